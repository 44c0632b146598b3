import { hash } from "node:crypto";
import { canonicalJson } from "../domain/canonical.ts";
import { readHealed } from "../domain/healing-action.ts";
import { type Json, jsonLimits, parseJson } from "../domain/json.ts";
import type { Entry, RecordedRow, StepRow, Transition } from "./journal.ts";

/** An entry as the store writes it; the store adds seq, epoch, time and hash. */
export type RowToWrite = Pick<
  RecordedRow,
  "kind" | "attempt" | "occurrence" | "fingerprint" | "name" | "body"
>;

export function encodeEntry(entry: Entry): RowToWrite {
  if (isStep(entry)) return entry as StepRow;
  const { kind, ...rest } = entry as Transition;
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

export function isStep({ kind }: { readonly kind: string }): boolean {
  return kind.startsWith("step.");
}

/** The body of a tampered row may be of any type. */
type Chained = Omit<RecordedRow, "hash" | "body"> & { readonly body: unknown };

/** The hash before the first row. It covers the session's id, so that no row can move to another session. */
export function chainStart(sessionId: string): string {
  return digest(`maestro journal ${sessionId}`);
}

/**
 * Rows are hashed from this buffer. Joined to one string they would be copied twice, and a resume would spend more time on
 * garbage collection than on hashing.
 */
const scratch = Buffer.allocUnsafeSlow(64 * 1024);
const maxBytesPerUnit = 3;

/** Covers every column, so that a changed, removed, reordered or moved row breaks the chain from there on. */
export function chainHash(previous: string, row: Chained): string {
  const { name } = row;
  const body = String(row.body);
  const place = `${previous}\n${row.seq} ${row.epoch} ${row.at} ${row.kind} ${row.attempt} ${row.occurrence} ${row.fingerprint}`;
  // Length first: a name may contain anything, and must not be able to pose as the start of a body.
  const header = `${place} ${name?.length ?? -1} ${name}\n`;
  if ((header.length + body.length) * maxBytesPerUnit > scratch.length) return digest(header + body);
  const bodyAt = scratch.write(header);
  return digest(scratch.subarray(0, bodyAt + scratch.write(body, bodyAt)));
}

const digest = (content: string | Uint8Array): string => hash("sha256", content, "base64url");
