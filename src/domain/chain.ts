import { hash } from "node:crypto";
import type { RecordedRow } from "./journal.ts";

type Chained = Omit<RecordedRow, "position" | "hash">;

/** What the first row's hash is chained to; the session's id, so that no row can move to another session. */
export function chainStart(sessionId: string): string {
  return hash("sha256", `maestro journal ${sessionId}`, "base64url");
}

/** Covers every column, so that a changed, removed, reordered or moved row breaks the chain from there on. */
export function chainHash(previous: string, row: Chained): string {
  const header = `${previous}\n${row.seq} ${row.epoch} ${row.at} ${row.kind} ${row.attempt} ${row.occurrence} ${row.fingerprint}`;
  // Length first: a name may contain anything, and must not be able to pose as the start of a body.
  return hash("sha256", `${header} ${row.name?.length ?? -1} ${row.name}\n${row.body}`, "base64url");
}
