import { isJsonObject, type JsonObject, parseJson } from "../../domain/json.ts";
import { noUsage, type TokenUsage } from "../../domain/usage.ts";
import { type AgentUse, noUse, plus } from "./agent-use.ts";
import { type IsWanted, linesBelow } from "./transcript-lines.ts";

/** An agent's own record of one conversation. */
export interface Transcript {
  /** Every whole answer. */
  readonly used: AgentUse;
  /** The sums that the agent begins with when it resumes the conversation: they are part of what it then reports. */
  readonly restored: AgentUse;
}

export const noTranscript: Transcript = { used: noUse, restored: noUse };

/** An agent writes one answer in several lines, each with the same usage. */
export class UseByAnswer {
  readonly #answers = new Map<string, { readonly model: string; readonly usage: TokenUsage }>();

  /** The last line of an answer counts: it has its whole output. */
  add(id: string, model: string, usage: TokenUsage): void {
    this.#answers.set(id, { model, usage });
  }

  get use(): AgentUse {
    const byModel = new Map<string, TokenUsage>();
    for (const { model, usage } of this.#answers.values())
      byModel.set(model, plus(byModel.get(model) ?? noUsage, usage));
    return { byModel, costMicroUsd: null };
  }
}

const maxBytes = 32 * 1024 * 1024;

/** The lines of JSON in files that an agent wrote in its home. It may have written anything: what is no object is passed over. */
export async function* filesBelow(
  home: string,
  folders: readonly string[],
  isWanted: IsWanted,
): AsyncGenerator<JsonObject> {
  for await (const line of linesBelow(home, folders, isWanted)) {
    const value = objectIn(line);
    if (value !== undefined) yield value;
  }
}

function objectIn(line: string): JsonObject | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    const value = parseJson(line, { maxBytes });
    return isJsonObject(value) ? value : undefined;
  } catch {
    // A crash cuts the last line.
    return undefined;
  }
}

/** The members of a value that may be none. */
export const fieldsOf = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});
