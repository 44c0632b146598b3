import { hash } from "node:crypto";
import type { RecordedRow } from "./journal.ts";

/** In a row that somebody changed the body may be anything. */
type Chained = Omit<RecordedRow, "hash" | "body"> & { readonly body: unknown };

/** What the first row's hash is chained to; the session's id, so that no row can move to another session. */
export function chainStart(sessionId: string): string {
  return digest(`maestro journal ${sessionId}`);
}

/**
 * Where the bytes of a row are put together. As one text they would be made twice for each row of a history, joined and then
 * flattened, and a resume would spend longer on clearing that away than on hashing.
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
