import { JournalCorrupt } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import { Chain, markKinds, verifyRow } from "../../journal/chain.ts";
import type { RecordedRow } from "../../journal/journal.ts";
import { chainStart } from "../../journal/journal-codec.ts";
import type { SessionStatus } from "../../journal/standing.ts";
import type { HeldLease } from "../decisions/lease.ts";
import type { DrivenTurn, Turn } from "../decisions/take.ts";
import { notFound } from "../lease-errors.ts";
import type { Heartbeat } from "../owner.ts";
import type { HeldSession } from "../reports.ts";
import type { SessionRecord } from "../session-record.ts";
import {
  ownerColumns,
  rowColumns,
  sessionColumns,
  toHeartbeat,
  toRecordedRow,
  toSession,
  toTurn,
  turnColumns,
} from "../sql/session-rows.ts";
import { lifeLock } from "./liveness.ts";
import { decodeName } from "./names.ts";
import type { PostgresQueries } from "./postgres-queries.ts";

const pageRows = 1_000;

/** The owner's connection has ended, so its process died or lost its way to the server. */
const isGone = `NOT EXISTS (SELECT 1 FROM pg_locks k WHERE k.locktype = 'advisory' AND k.objsubid = 2 AND k.granted
  AND k.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND k.classid = ${lifeLock} AND k.objid = (hashtext(o.id)::bigint & 4294967295)::oid)`;

/** Reads of sessions, leases and journals. */
export class PostgresReader {
  readonly #queries: PostgresQueries;

  constructor(queries: PostgresQueries) {
    this.#queries = queries;
  }

  async session(idOrKey: string): Promise<SessionRecord | undefined> {
    // An id wins over a key, so that a key that looks like another session's id cannot hide that session.
    const row = await this.#queries.get(
      `SELECT ${sessionColumns} FROM sessions WHERE id = ?1 OR key = ?1 ORDER BY id <> ?1 LIMIT 1`,
      idOrKey.replaceAll("\0", " "),
    );
    return row && toSession(row);
  }

  async sessionWithKey(key: string): Promise<SessionRecord | undefined> {
    const row = await this.#queries.get(`SELECT ${sessionColumns} FROM sessions WHERE key = ?`, key);
    return row && toSession(row);
  }

  async sessionsLike(prefix: string): Promise<SessionRecord[]> {
    const rows = await this.#queries.all(
      `SELECT ${sessionColumns} FROM sessions WHERE id >= ? AND id < ? LIMIT 3`,
      prefix,
      `${prefix}~`,
    );
    return rows.map(toSession);
  }

  /** Throws SessionNotFound. A number is never given to another session, and a deleted one has no rows. */
  async number(id: SessionId): Promise<number> {
    const row = await this.#queries.get("SELECT number FROM sessions WHERE id = ?", id);
    if (row === undefined) throw notFound(id);
    return row[0] as number;
  }

  async lease(session: number): Promise<HeldLease> {
    const row = await this.#queries.get(
      `SELECT l.epoch, ${ownerColumns}, ${isGone} FROM leases l LEFT JOIN owners o ON o.id = l.owner
       WHERE l.session = ?`,
      session,
    );
    if (row === undefined) return { epoch: 0, holder: undefined };
    return { epoch: row[0] as number, holder: row[1] === null ? undefined : toHolder(row.slice(1)) };
  }

  async underWay(): Promise<DrivenTurn[]> {
    const rows = await this.#queries.all(
      `SELECT ${turnColumns}, s.status, s.wake_at, ${ownerColumns}, ${isGone}
       FROM sessions s LEFT JOIN leases l ON l.session = s.number LEFT JOIN owners o ON o.id = l.owner
       WHERE s.number IN (SELECT number FROM sessions WHERE status = 'running' AND wake_at IS NULL
                          UNION SELECT session FROM leases WHERE owner IS NOT NULL)
       ORDER BY s.number`,
    );
    return rows.map((row) => ({
      ...toTurn(row),
      status: row[7] as SessionStatus,
      isResting: row[8] !== null,
      holder: row[9] === null ? undefined : toHolder(row.slice(9)),
    }));
  }

  /** Sessions that may be taken, longest wait first; also those that began to wait in the future. */
  async due(now: number): Promise<Turn[]> {
    const rows = await this.#queries.all(
      `SELECT ${turnColumns} FROM sessions s
       WHERE s.status IN ('parked', 'queued', 'running') AND s.wake_at IS NOT NULL
         AND (s.wake_at <= ?1 OR s.status_at > ?1)
       ORDER BY s.wake_at, s.number`,
      now,
    );
    return rows.map(toTurn);
  }

  async hasSignals(id: SessionId): Promise<boolean> {
    const found = await this.#queries.get(
      "SELECT 1 FROM inbox WHERE session = (SELECT number FROM sessions WHERE id = ?) LIMIT 1",
      id,
    );
    return found !== undefined;
  }

  async held(owner: string): Promise<Map<SessionId, HeldSession>> {
    const rows = await this.#queries.all(
      `SELECT s.id, l.epoch, EXISTS (SELECT 1 FROM inbox i WHERE i.session = l.session)
       FROM leases l JOIN sessions s ON s.number = l.session WHERE l.owner = ?`,
      owner,
    );
    return new Map(
      rows.map(([id, epoch, isSignaled]) => [
        id as SessionId,
        { epoch: epoch as number, isSignaled: isSignaled === true },
      ]),
    );
  }

  async *rows(
    id: SessionId,
    session: number,
    afterSeq: number,
    limit: number,
  ): AsyncIterable<readonly RecordedRow[]> {
    const [before] = await this.#queries.all(
      "SELECT seq, hash FROM journal WHERE session = ? AND seq <= ? ORDER BY seq DESC LIMIT 1",
      session,
      afterSeq,
    );
    const head = before && { seq: before[0] as number, hash: before[1] as string };
    const start = head ?? { seq: 0, hash: chainStart(id) };
    const chain = new Chain(id, start, await this.#marks(session, start.seq));
    for (let left = limit; left > 0; left -= pageRows) {
      const wanted = Math.min(pageRows, left);
      const rows = await this.#queries.all(
        `SELECT ${rowColumns} FROM journal WHERE session = ? AND seq > ? ORDER BY seq LIMIT ?`,
        session,
        chain.seq,
        wanted,
      );
      const page = rows.map(toRow);
      for (const row of page) chain.add(row);
      if (page.length > 0) yield page;
      if (page.length < wanted) return;
    }
  }

  async *transitions(
    id: SessionId,
    session: number,
    afterSeq: number,
  ): AsyncIterable<readonly RecordedRow[]> {
    for (let seq = afterSeq; ; ) {
      const rows = await this.#queries.all(
        `SELECT ${rowColumns}, previous_hash FROM journal
         WHERE session = ? AND seq > ? AND attempt IS NULL ORDER BY seq LIMIT ?`,
        session,
        seq,
        pageRows,
      );
      const page = rows.map((columns) => {
        const row = toRow(columns);
        verifyRow(id, { seq, hash: String(columns[10]) }, row);
        seq = row.seq;
        return row;
      });
      if (page.length > 0) yield page;
      if (page.length < pageRows) return;
    }
  }

  async body(id: SessionId, session: number, seq: number): Promise<string> {
    const found = await this.#queries.get(
      `SELECT ${rowColumns}, (SELECT p.hash FROM journal p WHERE p.session = j.session AND p.seq < j.seq
         ORDER BY p.seq DESC LIMIT 1)
       FROM journal j WHERE session = ? AND seq = ?`,
      session,
      seq,
    );
    if (found === undefined)
      throw new JournalCorrupt(`The journal of session ${id} has no row ${seq}.`, {
        details: { session: id, seq },
      });
    const row = toRow(found);
    verifyRow(id, { seq: seq - 1, hash: (found[10] as string | null) ?? chainStart(id) }, row);
    return row.body;
  }

  /** Rows after `afterSeq` that concern earlier rows. */
  async #marks(session: number, afterSeq: number): Promise<RecordedRow[]> {
    const rows = await this.#queries.all(
      `SELECT ${rowColumns} FROM journal WHERE session = ? AND seq > ? AND attempt IS NULL
         AND kind IN (${markKinds.map((kind) => `'${kind}'`).join(", ")}) ORDER BY seq`,
      session,
      afterSeq,
    );
    return rows.map(toRow);
  }
}

function toRow(columns: unknown[]): RecordedRow {
  const row = toRecordedRow(columns);
  return { ...row, name: decodeName(row.name) };
}

const toHolder = (columns: unknown[]): Heartbeat => ({
  ...toHeartbeat(columns),
  isGone: columns[9] === true,
});
