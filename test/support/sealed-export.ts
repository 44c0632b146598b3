import { readFileSync, writeFileSync } from "node:fs";
import { gunzipSync, gzipSync } from "node:zlib";
import { canonicalJson } from "../../src/domain/canonical.ts";
import type { Json, JsonObject } from "../../src/domain/json.ts";
import { type CheckpointContent, readCheckpoint, sealCheckpoint } from "../../src/journal/checkpoint.ts";
import { digestOf } from "../../src/journal/reduce.ts";

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

/** Seals changed checkpoints again, as an attacker would: every digest and every seal is right. */
export function sealAgain(contents: readonly Content[]): string[] {
  let digest = "";
  return contents.map((content) => {
    if (content.session !== undefined) {
      const body = canonicalJson(content.session as unknown as Json);
      digest = digestOf("", { seq: 1, at: content.createdAt, kind: "session.created", body });
    }
    for (const row of content.rows) digest = digestOf(digest, row);
    return sealCheckpoint({ ...content, transitions: digest }).text;
  });
}

export function writeExport(file: string, rest: JsonObject, checkpoints: readonly string[]): void {
  writeFileSync(file, gzipSync(JSON.stringify({ ...rest, checkpoints })));
}
