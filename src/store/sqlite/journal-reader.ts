import { JournalCorrupt } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import { Chain, verifyRow } from "../../journal/chain.ts";
import type { RecordedRow } from "../../journal/journal.ts";
import { chainStart } from "../../journal/journal-codec.ts";
import type { Reader } from "./reader.ts";

const pageRows = 1_000;

/** Reads a session's rows in pages and verifies each row. Other sessions of this process run between pages. */
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
    const head = (afterSeq > 0 && this.#reader.headAt(session, afterSeq)) || { seq: 0, hash: chainStart(id) };
    const chain = new Chain(id, head, this.#reader.marks(session, head.seq));
    for (let left = limit; left > 0; left -= pageRows) {
      const wanted = Math.min(pageRows, left);
      const page = this.#reader.journalPage(session, chain.seq, wanted);
      for (const row of page) chain.add(row);
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
        verifyRow(id, { seq, hash: previousHash }, row);
        seq = row.seq;
        return row;
      });
      if (rows.length > 0) yield rows;
      if (rows.length < pageRows) return;
      await new Promise(setImmediate);
    }
  }

  body(id: SessionId, session: number, seq: number): string {
    const found = this.#reader.row(session, seq);
    if (found === undefined)
      throw new JournalCorrupt(`Row ${seq} of the journal of session ${id} is gone from ${this.#path}.`, {
        details: { session: id, seq },
      });
    const { row, previousHash } = found;
    verifyRow(id, { seq: seq - 1, hash: previousHash ?? chainStart(id) }, row);
    return row.body;
  }
}
