import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "../../domain/clock.ts";
import type { Cursor, Position } from "../../domain/cursor.ts";
import type { SessionId } from "../../domain/ids.ts";
import { type SessionStatus, sessionStatuses } from "../../journal/standing.ts";
import { isLeft } from "../decisions/take.ts";
import type { LeaseJudge } from "../lease-judge.ts";
import type {
  HeldSession,
  JournalChange,
  ListedSession,
  ListingCounts,
  ListingFilter,
  ListingQuery,
  Reference,
  ReferencePage,
  Reports,
} from "../reports.ts";
import type { SessionRecord } from "../session-record.ts";
import { listedColumns, readCursor, toListed } from "../sql/listed-rows.ts";
import type { SqlValue } from "../sql/queries.ts";
import { UsageReports } from "../sql/usage-reports.ts";
import type { PostgresQueries } from "./postgres-queries.ts";
import type { PostgresReader } from "./postgres-reader.ts";
import { rowsOfOneTransaction } from "./save.ts";

const besides = `LEFT JOIN session_cards c ON c.session = s.number LEFT JOIN leases l ON l.session = s.number
  LEFT JOIN session_texts t ON t.session = s.number`;
const longestQueue = 10_000;
/** A commit takes a few milliseconds. A longer transaction, such as a backup, must not hold up a follower's request. */
const mostSettlingMs = 250;
const betweenLooksMs = 5;

/** No row below it can appear any more: every transaction with a smaller number has ended. */
const horizon = `pg_snapshot_xmin(pg_current_snapshot())::text::bigint * ${rowsOfOneTransaction}`;

interface ReportsParts {
  readonly queries: PostgresQueries;
  readonly reader: PostgresReader;
  readonly leases: LeaseJudge;
  readonly clock: Clock;
  /** This process as an owner of leases. */
  readonly owner: string;
}

/** Reads of sessions and lists. The base class reads usage. */
export class PostgresReports extends UsageReports implements Reports {
  readonly #parts: ReportsParts;
  readonly #queries: PostgresQueries;

  constructor(parts: ReportsParts) {
    super(parts.queries, parts.clock, (id) => parts.reader.number(id));
    this.#parts = parts;
    this.#queries = parts.queries;
  }

  findByPrefix(prefix: string): Promise<readonly SessionRecord[]> {
    return this.#parts.reader.sessionsLike(prefix);
  }

  async abandoned(): Promise<readonly SessionId[]> {
    const { reader, leases } = this.#parts;
    const stateOf = leases.look();
    const driven = await reader.underWay();
    return driven.filter((turn) => isLeft(turn, stateOf(turn.holder))).map(({ id }) => id);
  }

  held(): Promise<ReadonlyMap<SessionId, HeldSession>> {
    return this.#parts.reader.held(this.#parts.owner);
  }

  hasSignals(id: SessionId): Promise<boolean> {
    return this.#parts.reader.hasSignals(id);
  }

  async findReferenced(hashes: readonly string[], by?: SessionId): Promise<ReadonlySet<string>> {
    const rows = await this.#queries.read<{ sha256: string }>(
      `SELECT DISTINCT sha256 FROM artifact_references WHERE sha256 = ANY($1::text[])
       AND ($2::text IS NULL OR session = (SELECT number FROM sessions WHERE id = $2))`,
      [hashes, by ?? null],
    );
    return new Set(rows.map(({ sha256 }) => sha256));
  }

  async references({ by, after, limit }: ReferencePage): Promise<readonly Reference[]> {
    return (await this.#queries.read(
      `SELECT r.sha256, s.id AS session
       FROM (SELECT sha256, min(session) AS session FROM artifact_references WHERE sha256 > $1
             AND ($2::text IS NULL OR session = (SELECT number FROM sessions WHERE id = $2))
             GROUP BY sha256 ORDER BY sha256 LIMIT $3) r
       JOIN sessions s ON s.number = r.session ORDER BY r.sha256`,
      [after, by ?? null, limit],
    )) as unknown as readonly Reference[];
  }

  async list(query: ListingQuery): Promise<readonly ListedSession[]> {
    const { where, values } = conditionsOf(query);
    const order = query.order === "created" ? "s.number DESC" : "s.status_at DESC, s.number DESC";
    const rows = await this.#queries.all(
      `SELECT ${listedColumns} FROM sessions s ${besides} ${where} ORDER BY ${order} LIMIT ?`,
      ...values,
      query.limit,
    );
    return rows.map(toListed);
  }

  async listed(ids: readonly SessionId[]): Promise<readonly ListedSession[]> {
    const { isListed } = this.#queries.dialect;
    const rows = await this.#queries.all(
      `SELECT ${listedColumns} FROM sessions s ${besides} WHERE ${isListed("s.id")}`,
      JSON.stringify(ids),
    );
    return rows.map(toListed);
  }

  async count(filter: Omit<ListingFilter, "statuses" | "heldAt">, now: number): Promise<ListingCounts> {
    const { where, values } = conditionsOf(filter);
    const rows = await this.#queries.all(
      `SELECT s.status, count(*), count(*) FILTER (WHERE s.status = 'running' AND c.held_until > ?)
       FROM sessions s ${besides} ${where} GROUP BY s.status`,
      now,
      ...values,
    );
    const counts = new Map(rows.map(([status, count]) => [status as SessionStatus, count as number]));
    return {
      byStatus: Object.fromEntries(
        sessionStatuses.map((status) => [status, counts.get(status) ?? 0]),
      ) as ListingCounts["byStatus"],
      held: rows.reduce((sum, [, , held]) => sum + (held as number), 0),
    };
  }

  async queued(): Promise<readonly SessionId[]> {
    const rows = await this.#queries.all(
      `SELECT id FROM sessions WHERE status = 'queued' AND wake_at IS NOT NULL
       ORDER BY priority DESC, wake_at, number LIMIT ${longestQueue}`,
    );
    return rows.map(([id]) => id as SessionId);
  }

  async changes(after: Position, limit: number): Promise<readonly JournalChange[]> {
    for (const startedAt = performance.now(); ; ) {
      const rows = await this.#queries.all(
        `SELECT j.position::text, s.id, j.seq, j.at, j.kind, j.position < ${horizon}
         FROM journal j JOIN sessions s ON s.number = j.session
         WHERE j.position > ?::bigint ORDER BY j.position LIMIT ?`,
        after,
        limit,
      );
      const end = rows.findIndex(([, , , , , isComplete]) => isComplete !== true);
      const complete = end === -1 ? rows : rows.slice(0, end);
      if (end === -1 || !this.#isFresh(startedAt)) return complete.map(toChange);
      await sleep(betweenLooksMs);
    }
  }

  /** Waits a moment for transactions under way, so that it is behind every row that is visible now. */
  async position(): Promise<Position> {
    let wanted: string | undefined;
    for (const startedAt = performance.now(); ; await sleep(betweenLooksMs)) {
      const [row] = await this.#queries.all(
        `SELECT (${horizon} - 1)::text,
           (pg_snapshot_xmax(pg_current_snapshot())::text::bigint * ${rowsOfOneTransaction} - 1)::text`,
      );
      const [settled, newest] = row as [string, string];
      wanted ??= newest;
      if (BigInt(settled) >= BigInt(wanted) || !this.#isFresh(startedAt)) return settled as Position;
    }
  }

  #isFresh(startedAt: number): boolean {
    return performance.now() - startedAt < mostSettlingMs;
  }
}

const toChange = ([position, id, seq, at, kind]: unknown[]): JournalChange =>
  ({ position, id, seq, at, kind }) as JournalChange;

function conditionsOf({
  statuses,
  heldAt,
  text,
  team,
  since,
  after,
  order,
}: ListingFilter & { readonly after?: Cursor | undefined; readonly order?: ListingQuery["order"] }): {
  where: string;
  values: SqlValue[];
} {
  const conditions: string[] = [];
  const values: SqlValue[] = [];
  const add = (condition: string, ...given: SqlValue[]): void => {
    conditions.push(condition);
    values.push(...given);
  };
  if (statuses !== undefined)
    add("s.status IN (SELECT json_array_elements_text(?::json))", JSON.stringify(statuses));
  if (heldAt !== undefined) add("c.held_until > ?", heldAt);
  if (text !== undefined) add("strpos(t.text, ?) > 0", text.toLowerCase());
  if (team !== undefined) add("s.team = ?", team);
  if (since !== undefined) add("s.created_at >= ?", since);
  if (after !== undefined) {
    const { statusAt, number } = readCursor(after);
    if (order === "created") add("s.number < ?", number);
    else add("(s.status_at, s.number) < (?, ?)", statusAt, number);
  }
  return { where: conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`, values };
}
