import { chainHash } from "../../domain/chain.ts";
import { JournalCorrupt } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import type { JournalHead, RecordedRow } from "../../domain/journal.ts";
import { parseBody } from "../../domain/journal-codec.ts";

/** Returns the row's hash when the row follows from the one before; `previous` is undefined for a row taken on trust. */
export function verify(
  id: SessionId,
  previous: string | undefined,
  row: RecordedRow,
  lastSeq: number,
): string {
  // Nearly every row of every history: nothing is made for it but its hash.
  const follows = previous !== undefined && row.seq === lastSeq + 1 && chainHash(previous, row) === row.hash;
  return follows ? row.hash : judge(id, previous, row, lastSeq);
}

function judge(id: SessionId, previous: string | undefined, row: RecordedRow, lastSeq: number): string {
  const restored = lastSeq === 0 && row.kind === "session.restored" ? headOfRestored(row) : undefined;
  const before = restored ?? { seq: lastSeq, hash: previous };
  if (before.hash === undefined) return row.hash;
  const gap = row.seq !== before.seq + 1;
  if (!gap && chainHash(before.hash, row) === row.hash) return row.hash;
  throw new JournalCorrupt(
    `The journal of session ${id} is damaged at row ${row.seq}: ${gap ? `rows after ${before.seq} are missing` : "its hash does not match"}.`,
    {
      details: { session: id, seq: row.seq },
      advice:
        `Restore maestro.db from a backup; or go on from the checkpoints elsewhere: maestro checkpoints export ${id} <file>, ` +
        `then maestro checkpoints import <file> --state-dir <new>. Remove it here with: maestro prune --damaged ${id}`,
    },
  );
}

/** A restored session's history goes on behind the head that its newest checkpoint knew; undefined when damaged. */
function headOfRestored(row: RecordedRow): JournalHead | undefined {
  try {
    return (parseBody(row.body) as unknown as { head?: JournalHead }).head;
  } catch {
    return undefined;
  }
}
