import { readFileSync, writeFileSync } from "node:fs";
import { gunzipSync, gzipSync } from "node:zlib";
import { canonicalJson } from "../../src/domain/canonical.ts";
import type { SessionId } from "../../src/domain/ids.ts";
import type { Json, JsonObject } from "../../src/domain/json.ts";
import {
  type CheckpointContent,
  initPhase,
  projectInit,
  projectPhase,
  readCheckpoint,
  sealCheckpoint,
} from "../../src/journal/checkpoint.ts";
import { chainHash, chainStart, transitionRow } from "../../src/journal/journal-codec.ts";
import { digestOf, reduce } from "../../src/journal/reduce.ts";
import { copiedEpoch } from "../../src/journal/row.ts";
import { emptyState } from "../../src/journal/session-state.ts";

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };
export type Content = Mutable<Omit<CheckpointContent, "rows">> & {
  rows: Mutable<CheckpointContent["rows"][number]>[];
};

/** An export of a session, with its checkpoints in order and open to changes. */
export interface OpenExport {
  readonly rest: JsonObject;
  readonly contents: readonly Content[];
}

export function readExport(file: string): OpenExport {
  const { checkpoints, ...rest } = JSON.parse(gunzipSync(readFileSync(file)).toString()) as {
    readonly checkpoints: readonly string[];
  } & JsonObject;
  const contents = checkpoints
    .map((text) => readCheckpoint(text, file).content as unknown as Content)
    .sort((one, other) => one.journal.seq - other.journal.seq);
  return { rest, contents };
}

/**
 * Seals changed checkpoints again, as an attacker would: every digest and every seal is right, and so is the hash in the
 * row that records each seal.
 */
export function sealAgain(contents: readonly Content[]): string[] {
  let digest = "";
  let before: { readonly now: string; readonly transitions: string } | undefined;
  return contents.map((content) => {
    let { journal } = content;
    if (content.session !== undefined) {
      const body = canonicalJson(content.session as unknown as Json);
      const first = { ...transitionRow("session.created", body), seq: 1, at: content.createdAt };
      digest = digestOf("", first);
      if (content.rows.length === 0)
        journal = { ...journal, hash: chainHash(chainStart(content.sessionId), { ...first, epoch: 0 }) };
    }
    const rows = content.rows.map((row) => (row.kind === "checkpoint.sealed" ? renewed(row, before) : row));
    for (const row of rows) digest = digestOf(digest, row);
    const sealed = sealCheckpoint({ ...content, journal, rows, transitions: digest });
    before = { now: sealed.sha256, transitions: digest };
    return sealed.text;
  });
}

/**
 * As `sealAgain`, but every summary is made from the rows, as a careful attacker would: the checkpoints contradict
 * nothing. Throws where the rows make no state.
 */
export function projectAgain(contents: readonly Content[]): string[] {
  const [init] = contents;
  let state = emptyState(init?.sessionId as SessionId);
  let before: { readonly now: string; readonly transitions: string } | undefined;
  return contents.map((content) => {
    const { session, createdAt, phase, journal: head, steps, after, files, usage = [] } = content;
    if (session !== undefined) {
      const first = {
        ...transitionRow("session.created", canonicalJson(session as unknown as Json)),
        seq: 1,
        at: createdAt,
        epoch: 0,
      };
      state = reduce(state, { ...first, hash: chainHash(chainStart(content.sessionId), first) });
    }
    const rows = content.rows.map(({ seq, at, kind, body }) => {
      const { body: sealed } =
        kind === "checkpoint.sealed" ? renewed({ seq, at, kind, body }, before) : { body };
      const row = { ...transitionRow(kind as never, sealed), seq, at, epoch: copiedEpoch, hash: head.hash };
      state = reduce(state, row);
      return row;
    });
    const sealed =
      phase === initPhase
        ? projectInit(state, rows)
        : projectPhase(state, phase, { head, steps, after, files, usage, rows });
    before = { now: sealed.sha256, transitions: state.transitions };
    return sealed.text;
  });
}

/** A row of a seal, with the hash and the digest of the checkpoint as it is now. */
function renewed(
  row: Content["rows"][number],
  before: { readonly now: string; readonly transitions: string } | undefined,
): Content["rows"][number] {
  if (before === undefined) return row;
  try {
    const body = JSON.parse(row.body) as JsonObject;
    if (typeof body["sha256"] !== "string" || typeof body["transitions"] !== "string") return row;
    return {
      ...row,
      body: JSON.stringify({ ...body, sha256: before.now, transitions: before.transitions }),
    };
  } catch {
    // A lie that is no JSON stays as it is.
    return row;
  }
}

export function writeExport(file: string, rest: JsonObject, checkpoints: readonly string[]): void {
  const { artifacts, ...head } = rest;
  writeFileSync(file, gzipSync(JSON.stringify({ ...head, checkpoints, ...(artifacts && { artifacts }) })));
}
