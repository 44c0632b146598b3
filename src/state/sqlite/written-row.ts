import type { RecordedRow } from "../../domain/journal.ts";
import type { RowToWrite } from "../../domain/journal-codec.ts";
import type { Placed } from "./command.ts";

/** A row that was just written, as it will be read back. No literal: see ADR 2. */
export class WrittenRow implements RecordedRow {
  readonly position: number;
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

  constructor(row: RowToWrite, [position, seq, at, hash]: Placed, epoch: number) {
    this.position = position;
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
