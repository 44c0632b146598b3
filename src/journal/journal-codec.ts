import { hash } from "node:crypto";
import { canonicalJson } from "../domain/canonical.ts";
import type { ErrorJson } from "../domain/error-json.ts";
import type { Failure } from "../domain/failure.ts";
import { readHealed } from "../domain/healing-action.ts";
import { type Json, jsonLimits, parseJson, toJsonText } from "../domain/json.ts";
import type { TreeChange } from "../domain/tree.ts";
import type { CallTiming } from "./durable-step.ts";
import type { Entry, RecordedRow, StepKind, StepRow, Transition } from "./journal.ts";
import { type StepIdentity, stepRowKinds } from "./recorded-step.ts";

// The rows of the journal as text: writing, reading and the hash chain.

/** An entry as the store writes it. The store adds seq, epoch, time and hash. */
export type RowToWrite = Pick<
  RecordedRow,
  "kind" | "attempt" | "occurrence" | "fingerprint" | "name" | "body"
>;

export function encodeEntry(entry: Entry): RowToWrite {
  if (isStep(entry)) return entry as StepRow;
  const { kind, ...rest } = entry as Transition;
  // A checkpoint stores the first row as JSON, and restore must reproduce the same bytes.
  const body = kind === "session.created" ? canonicalJson(rest as unknown as Json) : JSON.stringify(rest);
  return transitionRow(kind, body);
}

export function transitionRow(kind: Transition["kind"], body: string): RowToWrite {
  return { kind, attempt: null, occurrence: null, fingerprint: null, name: null, body };
}

/** A recorded value may be as deep as the limit, and its row adds a few levels. */
export const bodyLimits = {
  what: "a journal row",
  maxBytes: 4 * jsonLimits.maxBytes,
  maxDepth: jsonLimits.maxDepth + 20,
};

export function parseBody(body: string): Json {
  return parseJson(body, bodyLimits);
}

/** The hash chain covers rows, so the text read back is text that this program wrote. */
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

/** The body of a tampered row may have any type. */
type Chained = Omit<RecordedRow, "hash" | "body"> & { readonly body: unknown };

/** The hash before the first row. It covers the session's id, so that no row can move to another session. */
export function chainStart(sessionId: string): string {
  return digest(`maestro journal ${sessionId}`);
}

/**
 * Rows are hashed from this buffer. Joining them to one string would copy them twice, and a resume would spend more
 * time on garbage collection than on hashing.
 */
const scratch = Buffer.allocUnsafeSlow(64 * 1024);
const maxBytesPerUnit = 3;

/** Covers every column, so that a changed, removed, reordered or moved row breaks the chain. */
export function chainHash(previous: string, row: Chained): string {
  const { name } = row;
  const body = String(row.body);
  const place = `${previous}\n${row.seq} ${row.epoch} ${row.at} ${row.kind} ${row.attempt} ${row.occurrence} ${row.fingerprint}`;
  // Length first: a name may contain anything and must not pose as the start of a body.
  const header = `${place} ${name?.length ?? -1} ${name}\n`;
  if ((header.length + body.length) * maxBytesPerUnit > scratch.length) return digest(header + body);
  const bodyAt = scratch.write(header);
  return digest(scratch.subarray(0, bodyAt + scratch.write(body, bodyAt)));
}

const digest = (content: string | Uint8Array): string => hash("sha256", content, "base64url");

/**
 * A step to be recorded. A class instead of a literal, like everything that holds a step's result until it is on
 * disk. Once V8 has seen many such literals live long, it allocates them in the old generation, where each keeps
 * its result in memory long after the step and slows down every small collection.
 */
export class NewStepRow implements StepRow {
  readonly kind: StepRow["kind"];
  readonly attempt: number;
  readonly name: string;
  readonly fingerprint: string;
  readonly occurrence: number;
  readonly body: string;

  constructor(kind: StepKind, attempt: number, name: string, identity: StepIdentity, body: string) {
    this.kind = stepRowKinds[kind];
    this.attempt = attempt;
    this.name = name;
    this.fingerprint = identity.fingerprint;
    this.occurrence = identity.occurrence;
    this.body = body;
  }
}

/** A row as it was appended. */
export type PlacedRow = readonly [seq: number, at: number, hash: string];

/** A row that was just written, in the form of a read row. A class instead of a literal: see ADR 2. */
export class WrittenRow implements RecordedRow {
  readonly seq: number;
  readonly epoch: number;
  readonly at: number;
  readonly kind: RecordedRow["kind"];
  readonly attempt: number | null;
  readonly occurrence: number | null;
  readonly fingerprint: string | null;
  readonly name: string | null;
  readonly body: string;
  readonly hash: string;

  constructor(row: RowToWrite, [seq, at, hash]: PlacedRow, epoch: number) {
    this.seq = seq;
    this.epoch = epoch;
    this.at = at;
    this.kind = row.kind;
    this.attempt = row.attempt;
    this.occurrence = row.occurrence;
    this.fingerprint = row.fingerprint;
    this.name = row.name;
    this.body = row.body;
    this.hash = hash;
  }
}

export const receivedRow = (
  { placed, body }: { readonly placed: PlacedRow; readonly body: string },
  epoch: number,
): WrittenRow => new WrittenRow(transitionRow("signal.received", body), placed, epoch);

/** The beginning of a step's body after an outage, so that it is recognized without parsing. */
export const outageBody = '{"outage":true,';

const resultStart = '{"result":';

/** The body of a step with this result. An undefined result has no member. */
export function resultBody(result: unknown, name: string): string {
  return toJsonText(result, { what: `the result of step "${name}"`, member: "result" });
}

/** The result in a text that `resultBody` wrote. */
export const resultIn = (body: string): string => body.slice(resultStart.length, -1);

export const artifactBody = (sha256: string): string => `{"artifact":"${sha256}"}`;

/** `failure`: judged while the error was fresh; undefined for a thrown value, which has only its text. */
export function errorBody(
  error: ErrorJson,
  { outage, failure }: { readonly outage: boolean; readonly failure: Failure | undefined },
): string {
  const body = JSON.stringify({ error, failure });
  return outage ? outageBody + body.slice(1) : body;
}

export const isFailure = (body: string): boolean =>
  body.startsWith(outageBody) || body.startsWith('{"error":');

/** The same body with the files that the step changed, which come first. */
export function withChanges(body: string, changes: readonly TreeChange[]): string {
  if (changes.length === 0) return body;
  return `{"changes":${JSON.stringify(changes)}${body === "{}" ? "" : ","}${body.slice(1)}`;
}

/**
 * The same body with the call that was sent to a model: JSON text of a `SentCall`. Besides it, what is not part of the
 * call's fingerprint: the output that its budgets left, and how long it took.
 */
export function sentBody(
  body: string,
  sent: string,
  { allowedOutput, timing }: { allowedOutput?: number | undefined; timing?: CallTiming | undefined } = {},
): string {
  const members = [
    `"sent":${sent}`,
    ...(allowedOutput === undefined ? [] : [`"allowedOutput":${allowedOutput}`]),
    ...(timing === undefined ? [] : [`"timing":${JSON.stringify(timing)}`]),
  ];
  return `${body.slice(0, -1)}${body === "{}" ? "" : ","}${members.join(",")}}`;
}

const textStart = `${resultStart}"`;
const textEnd = '"}';

/** The result, if it is a text without escapes, read without parsing the row; undefined for every other row. */
export function plainResult(body: string): string | undefined {
  if (!body.startsWith(textStart) || !body.endsWith(textEnd)) return undefined;
  const text = body.slice(textStart.length, -textEnd.length);
  return text.includes('"') || text.includes("\\") ? undefined : text;
}
