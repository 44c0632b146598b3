import { isJsonObject, type Json } from "../domain/json-value.ts";
import type { Decision } from "./values.ts";

const maxDecisions = 100;

/** The message for decisions of another form. */
export const decisionsRule = `decisions must be a list of at most ${maxDecisions} { title: string, choice: string, reason: string, rejected?: string[] }`;

/** Undefined when the value is not a decision. `rejected` may be missing. */
export function parseDecision(given: Json | undefined): Decision | undefined {
  if (!isJsonObject(given)) return undefined;
  const { title, choice, reason, rejected = [] } = given;
  if (typeof title !== "string" || typeof choice !== "string" || typeof reason !== "string") return undefined;
  if (!Array.isArray(rejected) || !rejected.every((other) => typeof other === "string")) return undefined;
  return { title, choice, reason, rejected };
}

/** Undefined when one is invalid: the persona can correct it. */
export function parseDecisions(given: Json): readonly Decision[] | undefined {
  if (!Array.isArray(given) || given.length > maxDecisions) return undefined;
  const parsed = given.map(parseDecision);
  return parsed.every((decision) => decision !== undefined) ? parsed : undefined;
}

/** The valid ones: an invalid record must not keep a session from being opened. */
export function recordedDecisions(recorded: unknown): readonly Decision[] {
  if (!Array.isArray(recorded)) return [];
  return recorded.flatMap((decision: Json) => parseDecision(decision) ?? []);
}
