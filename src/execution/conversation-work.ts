import type { EarlierResult, PersonaWork } from "../models/prompt.ts";
import type { WorkContext } from "./persona-context.ts";

/** What a model or an agent is told. */
export function conversationWork(instructions: string, context: WorkContext): PersonaWork {
  const { persona, conversation, brief, contract, notes } = context;
  return {
    persona,
    phase: context.context.phase,
    attempt: conversation.attempt,
    instructions,
    brief,
    contract,
    notes,
    failures: conversation.reasons,
    earlier: withinShare(earlierResults(context), context.settings.contextShare ?? 1),
  };
}

/** Whole, never cut. Files are not listed here: the persona looks for them with its tools. */
function earlierResults({ context }: WorkContext): EarlierResult[] {
  return Object.entries(context.results).flatMap(([phase, personas]) =>
    Object.entries(personas).map(([persona, { summary, outputs }]) => ({
      phase,
      persona,
      summary,
      outputs,
      files: [],
    })),
  );
}

/** After an overflow: the newest results are kept whole, of older ones only what they are about. */
function withinShare(results: readonly EarlierResult[], share: number): readonly EarlierResult[] {
  if (share >= 1) return results;
  const sizeOf = (result: EarlierResult): number => JSON.stringify(result).length;
  let room = share * results.reduce((sum, result) => sum + sizeOf(result), 0);
  const kept = results.toReversed().map((result) => {
    room -= sizeOf(result);
    return room >= 0 ? result : { ...result, summary: firstLine(result.summary), outputs: {} };
  });
  return kept.toReversed();
}

const firstLine = (text: string): string => text.trim().split("\n")[0]?.slice(0, 200) ?? "";
