import { type JournalHead } from "../../journal/journal.ts";
import type { RowToWrite } from "../../journal/journal-codec.ts";
import { chainHash, chainStart } from "../../journal/journal-codec.ts";
import { listedAfter, provesLife } from "../../journal/reduce.ts";
import { reasonOf, wakeAtOf } from "../../journal/standing.ts";
import type { Command, Placed } from "../command.ts";
import type { CopiedRow } from "../journal.ts";
import type { CardTable } from "./writer-cards.ts";
import type { writerStatements } from "./writer-statements.ts";

/** Rows are indexed in bulk after this many: few enough to scan, many enough to cost almost nothing. */
const indexEveryRows = 2_000;

export type HeadOfEpoch = JournalHead & { readonly epoch: number };

/** Appends rows inside the writer's transaction, together with everything that must agree with them. */
export class JournalTable {
  readonly #statements: ReturnType<typeof writerStatements>;
  readonly #cards: CardTable;
  /** Valid for one epoch: only its holder appends, so nothing else moves the head. */
  readonly #heads = new Map<number, HeadOfEpoch>();
  /** The position of the newest row; 0 after a rollback. */
  #lastPosition = 0;
  /** Sessions that were recovered and have recorded no progress since. */
  readonly #unproved = new Set<number>();
  /** The last value read, as a hint. If another process has moved it, indexing only happens early or late. */
  #indexedTo = 0;

  constructor(statements: ReturnType<typeof writerStatements>, cards: CardTable) {
    this.#statements = statements;
    this.#cards = cards;
  }

  head({ session, epoch }: { readonly session: number; readonly epoch: number }): HeadOfEpoch {
    const cached = this.#heads.get(session);
    if (cached?.epoch === epoch) return cached;
    const sql = this.#statements;
    const found = sql.tailHead.get(session) ?? sql.indexedHead.get(session);
    if (found === undefined) throw new Error(`session ${session} has no journal`);
    const [seq, hash] = found as unknown as [number, string];
    return { seq, hash, epoch };
  }

  forgetHead(session: number): void {
    this.#heads.delete(session);
  }

  rolledBack(): void {
    this.#heads.clear();
    this.#lastPosition = 0;
  }

  /** Counts as recovered until the session records something new. */
  recovered(session: number): void {
    this.#statements.recovered.run(session);
    this.#unproved.add(session);
  }

  /** Writes the first row of a session and its copied rows. Returns the first row. */
  create(session: number, command: Extract<Command, { verb: "create" }>): Placed {
    const { row, copied, appended, at } = command;
    const start = { seq: 0, hash: chainStart(command.session.id), epoch: 0 };
    const [created] = this.append(session, start, command.session.at, [row]) as [Placed];
    const [seq, , hash] = created;
    const end = this.copy(session, { seq, hash, epoch: 0 }, copied);
    if (end.epoch > 0) this.#statements.take.run(session, end.epoch, null);
    this.append(session, end, at, appended);
    return created;
  }

  /** Writes rows of an earlier life after `head`, keeping their seqs. Returns the last, with the highest epoch. */
  copy(session: number, head: HeadOfEpoch, copied: readonly CopiedRow[]): HeadOfEpoch {
    let { seq, hash, epoch } = head;
    for (const row of copied) {
      if (row.seq <= seq) throw new Error(`copied row ${row.seq} comes after row ${seq}`);
      const before = { seq: row.seq - 1, hash, epoch: row.epoch };
      [[seq, , hash]] = this.append(session, before, row.at, [row]) as [Placed];
      epoch = Math.max(epoch, row.epoch);
    }
    return { seq, hash, epoch };
  }

  append(session: number, head: HeadOfEpoch, at: number, rows: readonly RowToWrite[]): Placed[] {
    const { epoch } = head;
    let { seq, hash } = head;
    const placed = rows.map((row): Placed => {
      seq += 1;
      const previous = hash;
      hash = chainHash(previous, { ...row, seq, epoch, at });
      const { lastInsertRowid } = this.#statements.append.run(
        session,
        seq,
        epoch,
        at,
        row.kind,
        row.attempt,
        row.occurrence,
        row.fingerprint,
        row.name,
        row.body,
        hash,
      );
      const position = Number(lastInsertRowid);
      this.#lastPosition = position;
      if (row.attempt === null) {
        this.#statements.indexTransition.run(session, seq, position, previous);
        this.#projectStatus(session, row, at);
        this.#cards.apply(session, row, seq);
      }
      return [seq, at, hash];
    });
    this.#heads.set(session, { seq, hash, epoch });
    if (this.#unproved.size > 0 && this.#unproved.has(session) && rows.some(provesLife)) {
      this.#unproved.delete(session);
      this.#statements.proved.run(session);
    }
    return placed;
  }

  /** Deletes a slice of a session's rows. True if there are more. */
  deleteRows(session: number, rows: number): boolean {
    const sql = this.#statements;
    // Index them first: an indexed position stays known as used, so no later row reuses it.
    this.#index();
    const positions = sql.indexed.all(session, rows) as unknown as [position: number, seq: number][];
    for (const [position, seq] of positions) {
      sql.erase.run(position);
      sql.unindex.run(session, seq);
      sql.unindexTransition.run(session, seq);
    }
    return positions.length === rows;
  }

  /** Rows are appended unindexed: updating an index at each commit would dirty a page for every session that writes. */
  indexWhenDue(): boolean {
    if (this.#lastPosition - this.#indexedTo < indexEveryRows) return false;
    this.#indexedTo = this.#readIndexedTo();
    if (this.#lastPosition - this.#indexedTo < indexEveryRows) return false;
    this.#index();
    return true;
  }

  #index(): void {
    this.#statements.index.run(this.#readIndexedTo());
    this.#statements.setIndexedTo.run();
  }

  #readIndexedTo(): number {
    return (this.#statements.indexedTo.get() as unknown as [number])[0];
  }

  /** In the same transaction, because the session's entry must always agree with the journal. */
  #projectStatus(session: number, row: RowToWrite, at: number): void {
    const sql = this.#statements;
    const { standing, teamFingerprint } = listedAfter(row) ?? {};
    if (teamFingerprint !== undefined) sql.setTeam.run(teamFingerprint, at, session);
    // A claim does not undo a cancel.
    if (standing?.status === "running" && wakeAtOf(standing) === undefined)
      sql.setRunning.run(at, at, session);
    else if (standing !== undefined) {
      const [reason, wakeAt] = [reasonOf(standing) ?? null, wakeAtOf(standing) ?? null];
      sql.setStatus.run(standing.status, reason, wakeAt, at, at, session);
    } else if (teamFingerprint === undefined) sql.touch.run(at, session);
  }
}
