import type { RecordedRow } from "../../domain/journal.ts";
import type { RowToWrite } from "../../domain/journal-codec.ts";
import type { Placed } from "./command.ts";

/** A row as it will be read back. Column by column: to copy the row and add to it takes twice the memory. */
export function recorded(row: RowToWrite, [position, seq, at, hash]: Placed, epoch: number): RecordedRow {
  const { kind, attempt, occurrence, fingerprint, name, body } = row;
  return { position, seq, epoch, at, kind, attempt, occurrence, fingerprint, name, body, hash };
}
