import type { RecordedRow } from "../../domain/journal.ts";
import type { RowToWrite } from "../../domain/journal-codec.ts";
import type { Placed } from "./command.ts";

/** A row as it will be read back. */
export function recorded(row: RowToWrite, [position, seq, at, hash]: Placed, epoch: number): RecordedRow {
  return { ...row, position, seq, epoch, at, hash };
}
