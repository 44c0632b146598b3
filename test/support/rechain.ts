import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { RecordedRow } from "../../src/journal/journal.ts";
import { chainHash, chainStart, isStep } from "../../src/journal/journal-codec.ts";

type Row = { -readonly [Column in keyof RecordedRow]: RecordedRow[Column] } & { position: number };

/** Changes rows of a session and chains all of them anew, as a program does that knows how rows are hashed. */
export function rechain(stateDir: string, id: string, change: (row: Row, hashes: string[]) => void): void {
  const database = new DatabaseSync(join(stateDir, "maestro.db"));
  const rows = database
    .prepare("SELECT * FROM journal WHERE session = (SELECT number FROM sessions WHERE id = ?) ORDER BY seq")
    .all(id) as unknown as Row[];
  const [setRow, setPrevious] = [
    "UPDATE journal SET epoch = ?, body = ?, hash = ? WHERE position = ?",
    "UPDATE transitions SET previous_hash = ? WHERE position = ?",
  ].map((sql) => database.prepare(sql));
  /** By seq. */
  const hashes: string[] = [chainStart(id)];
  let previous = chainStart(id);
  for (const row of rows) {
    change(row, hashes);
    const hash = chainHash(previous, row);
    setRow?.run(row.epoch, row.body, hash, row.position);
    setPrevious?.run(previous, row.position);
    hashes[row.seq] = hash;
    previous = hash;
  }
  database.close();
}

/** Another result of one step. */
export function forgeStep(name: string, result: string) {
  return (row: Row): void => {
    if (isStep(row) && row.body.includes(name)) row.body = row.body.replace(name, result);
  };
}

/** The head that the seal of a phase has after the rows before it were chained anew. */
export function forgeSeal(phase: string) {
  return (row: Row, hashes: readonly string[]): void => {
    if (row.kind !== "checkpoint.sealed" || !row.body.includes(`"phase":"${phase}"`)) return;
    const body = JSON.parse(row.body) as { head: { seq: number; hash: string } };
    body.head.hash = String(hashes[body.head.seq]);
    row.body = JSON.stringify(body);
  };
}
