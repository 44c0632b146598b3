import type { RecordedFailure } from "../journal/journal.ts";
import type { PersonaReturn, WorkContext } from "./function.ts";
import type { Guidance } from "./guidance.ts";
import type { PersonaReturn as Submitted } from "./model/answer.ts";
import type { EarlierResult, PersonaWork } from "./model/prompt.ts";

/** The beginning of a conversation with a model or an agent. */
export function conversationWork(
  instructions: string,
  context: WorkContext,
  guidance: Guidance,
  attached: NonNullable<PersonaWork["attached"]>,
): PersonaWork {
  const { persona, conversation, brief, contract, notes } = context;
  return {
    persona,
    phase: context.context.phase,
    attempt: conversation.attempt,
    instructions,
    brief,
    guidance,
    attached,
    contract,
    notes,
    putBack: conversation.putBack,
    effects: context.effects,
    failures: withReports(conversation.reasons, context.settings.contextShare ?? 1),
    earlier: withinShare(earlierResults(context), context.settings.contextShare ?? 1),
  };
}

/** The last attempt's checks are told in full, as the tool that runs a check tells them; earlier ones in a line each. */
function withReports(reasons: readonly RecordedFailure[], share: number): PersonaWork["failures"] {
  return reasons.map(({ error, ...failure }, place) => {
    const reports = error.details?.["reports"];
    if (place < reasons.length - 1 || !Array.isArray(reports)) return failure;
    const texts = reports.filter((report) => typeof report === "string");
    return { ...failure, reports: texts.map((text) => text.slice(0, share * text.length).toWellFormed()) };
  });
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

/** After an overflow: the newest results stay whole, older ones keep the first line of their summary. */
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

/** The submission of a model or an agent, in the form that every persona returns. */
export function asReturn({ summary, outputs, decisions }: Submitted): PersonaReturn {
  return {
    summary,
    outputs,
    decisions: decisions.map(({ decision, reason, rejected = [] }) => ({
      title: decision,
      choice: decision,
      reason,
      rejected,
    })),
  };
}
