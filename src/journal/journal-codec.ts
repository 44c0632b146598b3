import { canonicalJson } from "../domain/canonical.ts";
import { readHealed } from "../domain/healing-action.ts";
import { type Json, jsonLimits, parseJson } from "../domain/json.ts";
import { type Entry, isStepRow, type RecordedRow, type Transition } from "./journal.ts";

/** An entry as the store writes it; the store adds position, seq, epoch, time and hash. */
export type RowToWrite = Pick<
  RecordedRow,
  "kind" | "attempt" | "occurrence" | "fingerprint" | "name" | "body"
>;

export function encodeEntry(entry: Entry): RowToWrite {
  if (isStepRow(entry)) return entry;
  const { kind, ...rest } = entry;
  // A checkpoint carries the first row as JSON, and restore must give the same bytes.
  const body = kind === "session.created" ? canonicalJson(rest as unknown as Json) : JSON.stringify(rest);
  return transitionRow(kind, body);
}

export function transitionRow(kind: Transition["kind"], body: string): RowToWrite {
  return { kind, attempt: null, occurrence: null, fingerprint: null, name: null, body };
}

/** A recorded value may be as deep as the limit, and its row wraps it in a few more levels. */
export const bodyLimits = {
  what: "a journal row",
  maxBytes: 4 * jsonLimits.maxBytes,
  maxDepth: jsonLimits.maxDepth + 20,
};

export function parseBody(body: string): Json {
  return parseJson(body, bodyLimits);
}

/** Rows are covered by the hash chain, so what is read back is what this program once wrote. */
export function decodeTransition(row: RecordedRow): Transition {
  const entry = { ...(parseBody(row.body) as object), kind: row.kind } as Transition;
  if (entry.kind !== "attempt.completed" && entry.kind !== "attempt.failed") return entry;
  return {
    ...entry,
    ...("healed" in entry && { healed: readHealed(entry.healed) }),
    ...(entry.healing !== undefined && { healing: entry.healing.map(readHealed) }),
  };
}

export function isStep(row: RecordedRow): boolean {
  return row.kind.startsWith("step.");
}
