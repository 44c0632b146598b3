import { advise } from "../../domain/advice.ts";
import { JournalCorrupt } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import type { JournalHead, RecordedRow } from "../../journal/journal.ts";
import { chainHash, chainStart } from "../../journal/journal-codec.ts";
import type { Reader } from "./reader.ts";

const pageRows = 1_000;

/** Reads a session's rows in pages, each row verified; between pages other sessions of this process run. */
export class JournalReader {
  readonly #reader: Reader;
  readonly #path: string;

  constructor(reader: Reader, path: string) {
    this.#reader = reader;
    this.#path = path;
  }

  async *rows(
    id: SessionId,
    session: number,
    afterSeq: number,
    limit: number,
  ): AsyncIterable<readonly RecordedRow[]> {
    let head = (afterSeq > 0 && this.#reader.headAt(session, afterSeq)) || { seq: 0, hash: chainStart(id) };
    for (let left = limit; left > 0; left -= pageRows) {
      const wanted = Math.min(pageRows, left);
      const page = this.#reader.journalPage(session, head.seq, wanted);
      for (const row of page) head = verify(id, head, row);
      if (page.length > 0) yield page;
      if (page.length < wanted) return;
      await new Promise(setImmediate);
    }
  }

  async *transitions(
    id: SessionId,
    session: number,
    afterSeq: number,
  ): AsyncIterable<readonly RecordedRow[]> {
    for (let seq = afterSeq; ; ) {
      const page = this.#reader.transitionsPage(session, seq, pageRows);
      const rows = page.map(({ row, previousHash }) => {
        verify(id, { seq, hash: previousHash }, row);
        seq = row.seq;
        return row;
      });
      if (rows.length > 0) yield rows;
      if (rows.length < pageRows) return;
      await new Promise(setImmediate);
    }
  }

  body(id: SessionId, session: number, seq: number): string {
    const body = this.#reader.body(session, seq);
    if (body === undefined)
      throw new JournalCorrupt(`Row ${seq} of the journal of session ${id} is gone from ${this.#path}.`, {
        details: { session: id, seq },
      });
    return body;
  }
}

/** Returns the row, now the head, when it follows from the head before. Its seq may skip some: the chain covers it. */
function verify(id: SessionId, head: JournalHead, row: RecordedRow): JournalHead {
  if (row.seq > head.seq && chainHash(head.hash, row) === row.hash) return row;
  const isGap = row.seq !== head.seq + 1;
  throw new JournalCorrupt(
    `The journal of session ${id} is damaged at row ${row.seq}: ${isGap ? `rows after ${head.seq} are missing` : "its hash does not match"}.`,
    {
      details: { session: id, seq: row.seq },
      advice: [
        advise("Restore maestro.db from a backup."),
        advise("Or export the checkpoints", "checkpoints", "export", id, "<file>"),
        advise("and import them elsewhere", "checkpoints", "import", "<file>", "--state-dir", "<folder>"),
        advise("Then remove the session here", "prune", "--damaged", id),
      ],
    },
  );
}
