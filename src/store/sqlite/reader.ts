import type { SessionId } from "../../domain/ids.ts";
import { markKinds } from "../../journal/chain.ts";
import type { JournalHead, RecordedRow } from "../../journal/journal.ts";
import type { SessionStatus } from "../../journal/standing.ts";
import type { HeldLease } from "../decisions/lease.ts";
import type { DrivenTurn, Turn } from "../decisions/take.ts";
import type { HeldSession, Reference, ReferencePage } from "../reports.ts";
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
import type { Comparison } from "../store.ts";
import type { Queries } from "./queries.ts";
import { readErrorIn } from "./sqlite-errors.ts";

/** Every query of the store. Reads see the last commit and never wait for the writer. */
export class Reader {
  readonly #queries: Queries;

  constructor(queries: Queries) {
    this.#queries = queries;
  }

  /** Runs the check twice: real damage is found again, but a failed read may succeed. */
  damage(): string[] {
    return this.#findDamage().length === 0 ? [] : this.#findDamage();
  }

  #findDamage(): string[] {
    const found = this.#queries.all("PRAGMA quick_check(10)").map((row) => String(Object.values(row)[0]));
    const unread = readErrorIn(found);
    if (unread !== undefined) throw this.#queries.translate(unread);
    return found.filter((line) => line !== "ok");
  }

  session(idOrKey: string): SessionRecord | undefined {
    // An id wins over a key, so that a key that looks like another session's id cannot hide that session.
    const row = this.#queries.get(`SELECT ${sessionColumns} FROM sessions WHERE id = ?`, idOrKey);
    return row === undefined ? this.sessionWithKey(idOrKey) : toSession(row);
  }

  sessionWithKey(key: string): SessionRecord | undefined {
    const row = this.#queries.get(`SELECT ${sessionColumns} FROM sessions WHERE key = ?`, key);
    return row && toSession(row);
  }

  sessionsLike(prefix: string): SessionRecord[] {
    // A range instead of LIKE: no character of the prefix is special, and the index of ids applies.
    return this.#queries
      .all(`SELECT ${sessionColumns} FROM sessions WHERE id >= ? AND id < ? LIMIT 3`, prefix, `${prefix}~`)
      .map(toSession);
  }

  comparison(): Comparison {
    const [comparedAt] =
      this.#queries.get("SELECT value FROM meta WHERE name = 'folders_compared' AND value > 0") ?? [];
    const [newestAt] =
      this.#queries.get("SELECT created_at FROM sessions ORDER BY number DESC LIMIT 1") ?? [];
    return { comparedAt: comparedAt as number | undefined, newestAt: newestAt as number | undefined };
  }

  sessionNumber(id: SessionId): number | undefined {
    return this.#queries.get("SELECT number FROM sessions WHERE id = ?", id)?.[0] as number | undefined;
  }

  lease(session: number): HeldLease {
    const row = this.#queries.get(
      `SELECT l.epoch, ${ownerColumns} FROM leases l LEFT JOIN owners o ON o.id = l.owner WHERE l.session = ?`,
      session,
    );
    if (row === undefined) return { epoch: 0, holder: undefined };
    return { epoch: row[0] as number, holder: row[1] === null ? undefined : toHeartbeat(row.slice(1)) };
  }

  underWay(): DrivenTurn[] {
    return this.#queries
      .all(
        `SELECT ${turnColumns}, s.status, s.wake_at, ${ownerColumns} FROM sessions s LEFT JOIN leases l ON l.session = s.number
       LEFT JOIN owners o ON o.id = l.owner
       WHERE s.number IN (SELECT number FROM sessions WHERE status = 'running' AND wake_at IS NULL
                          UNION SELECT session FROM leases WHERE owner IS NOT NULL)
       ORDER BY s.number`,
      )
      .map((row) => ({
        ...toTurn(row),
        status: row[7] as SessionStatus,
        isResting: row[8] !== null,
        holder: row[9] === null ? undefined : toHeartbeat(row.slice(9)),
      }));
  }

  /**
   * Sessions that may be taken, longest wait first. One that began to wait in the future is due too: the clock was
   * set back since, and its driver computes the remaining wait.
   */
  due(now: number): Turn[] {
    return this.#queries
      .all(
        `SELECT ${turnColumns}, s.number FROM sessions s
         WHERE s.status IN ('parked', 'queued', 'running') AND s.wake_at <= ?
       UNION SELECT ${turnColumns}, s.number FROM sessions s
         WHERE s.status IN ('parked', 'queued', 'running') AND s.status_at > ? AND s.wake_at IS NOT NULL
       ORDER BY 7, 8`,
        now,
        now,
      )
      .map(toTurn);
  }

  hasSignals(id: SessionId): boolean {
    const found = this.#queries.get(
      "SELECT 1 FROM inbox WHERE session = (SELECT number FROM sessions WHERE id = ?) LIMIT 1",
      id,
    );
    return found !== undefined;
  }

  held(owner: string): Map<SessionId, HeldSession> {
    const rows = this.#queries.all(
      `SELECT s.id, l.epoch, EXISTS (SELECT 1 FROM inbox i WHERE i.session = l.session)
       FROM leases l JOIN sessions s ON s.number = l.session WHERE l.owner = ?`,
      owner,
    );
    return new Map(
      rows.map(([id, epoch, isSignaled]) => [
        id as SessionId,
        { epoch: epoch as number, isSignaled: isSignaled === 1 },
      ]),
    );
  }

  /** A page of a session's history: first the indexed rows, then the rows that are not indexed yet. */
  journalPage(session: number, afterSeq: number, limit: number): RecordedRow[] {
    // One snapshot for both parts, because rows may be indexed between two statements.
    return this.#queries.inOneSnapshot(() => {
      const columns = rowColumns.replaceAll(/\w+/g, "j.$&");
      const rows = this.#queries.all(
        `SELECT ${columns} FROM journal_index i JOIN journal j ON j.position = i.position
         WHERE i.session = ? AND i.seq > ? ORDER BY i.seq LIMIT ?`,
        session,
        afterSeq,
        limit,
      );
      if (rows.length < limit) {
        rows.push(
          ...this.#queries.all(
            `SELECT ${rowColumns} FROM journal
             WHERE position > (SELECT value FROM meta WHERE name = 'indexed_to') AND session = ? AND seq > ?
             ORDER BY position LIMIT ?`,
            session,
            afterSeq,
            limit - rows.length,
          ),
        );
      }
      return rows.map(toRecordedRow);
    });
  }

  /** Seq and hash of the last row at or below `seq`. */
  headAt(session: number, seq: number): JournalHead | undefined {
    return this.#queries.inOneSnapshot(() => {
      const found =
        this.#queries.get(
          `SELECT seq, hash FROM journal
           WHERE position > (SELECT value FROM meta WHERE name = 'indexed_to') AND session = ? AND seq <= ?
           ORDER BY position DESC LIMIT 1`,
          session,
          seq,
        ) ??
        this.#queries.get(
          `SELECT j.seq, j.hash FROM journal_index i JOIN journal j ON j.position = i.position
           WHERE i.session = ? AND i.seq <= ? ORDER BY i.seq DESC LIMIT 1`,
          session,
          seq,
        );
      return found && { seq: found[0] as number, hash: found[1] as string };
    });
  }

  /**
   * Rows that are not steps, each with the hash of the row before it. A missing row has null in every column but
   * its seq.
   */
  transitionsPage(
    session: number,
    afterSeq: number,
    limit: number,
  ): { readonly row: RecordedRow; readonly previousHash: string }[] {
    return this.#queries
      .all(
        `SELECT ${rowColumns.replaceAll(/\w+/g, "j.$&").replace("j.seq", "t.seq")}, t.previous_hash
         FROM transitions t LEFT JOIN journal j ON j.position = t.position
         WHERE t.session = ? AND t.seq > ? ORDER BY t.seq LIMIT ?`,
        session,
        afterSeq,
        limit,
      )
      .map((row) => ({ row: toRecordedRow(row), previousHash: row[10] as string }));
  }

  /** Rows after `afterSeq` that concern earlier rows. */
  marks(session: number, afterSeq: number): RecordedRow[] {
    return this.#queries
      .all(
        `SELECT ${rowColumns.replaceAll(/\w+/g, "j.$&")} FROM transitions t JOIN journal j ON j.position = t.position
         WHERE t.session = ? AND t.seq > ? AND j.kind IN (${markKinds.map((kind) => `'${kind}'`).join(", ")})
         ORDER BY t.seq`,
        session,
        afterSeq,
      )
      .map(toRecordedRow);
  }

  /** One row with the hash of the row before it, which is null for the first. */
  row(
    session: number,
    seq: number,
  ): { readonly row: RecordedRow; readonly previousHash: string | null } | undefined {
    const indexed = this.#queries.get(
      `SELECT ${rowColumns.replaceAll(/\w+/g, "j.$&")},
         (SELECT p.hash FROM journal_index b JOIN journal p ON p.position = b.position
          WHERE b.session = i.session AND b.seq < i.seq ORDER BY b.seq DESC LIMIT 1)
       FROM journal_index i JOIN journal j ON j.position = i.position WHERE i.session = ? AND i.seq = ?`,
      session,
      seq,
    );
    if (indexed !== undefined)
      return { row: toRecordedRow(indexed), previousHash: indexed[10] as string | null };
    return this.#queries.inOneSnapshot(() => {
      const [row] = this.journalPage(session, seq - 1, 1);
      if (row?.seq !== seq) return undefined;
      return { row, previousHash: this.headAt(session, seq - 1)?.hash ?? null };
    });
  }

  references({ by, after, limit }: ReferencePage): Reference[] {
    const rows =
      by === undefined
        ? this.#queries.all(
            `SELECT r.sha256, s.id
             FROM (SELECT sha256, min(session) AS session FROM artifact_references WHERE sha256 > ?
                   GROUP BY sha256 ORDER BY sha256 LIMIT ?) r
             LEFT JOIN sessions s ON s.number = r.session ORDER BY r.sha256`,
            after,
            limit,
          )
        : this.#queries.all(
            `SELECT sha256, ? FROM artifact_references
             WHERE sha256 > ? AND session = (SELECT number FROM sessions WHERE id = ?) ORDER BY sha256 LIMIT ?`,
            by,
            after,
            by,
            limit,
          );
    return rows.map(([sha256, session]) => ({ sha256: sha256 as string, session: session as SessionId }));
  }

  referenced(hashes: readonly string[], by?: SessionId): Set<string> {
    const any = "SELECT 1 FROM artifact_references WHERE sha256 = ?";
    const one = `${any} AND session = (SELECT number FROM sessions WHERE id = ?)`;
    return new Set(
      hashes.filter((sha256) =>
        by === undefined ? this.#queries.get(any, sha256) : this.#queries.get(one, sha256, by),
      ),
    );
  }
}
