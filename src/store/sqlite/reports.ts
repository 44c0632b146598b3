import type { SQLInputValue } from "node:sqlite";
import type { Clock } from "../../domain/clock.ts";
import type { Position } from "../../domain/cursor.ts";
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
import { listedColumns, type Place, readCursor, toListed } from "../sql/listed-rows.ts";
import { UsageReports } from "../sql/usage-reports.ts";
import type { Queries } from "./queries.ts";
import type { Reader } from "./reader.ts";
import { lastPosition } from "./writer-statements.ts";

const besides = `LEFT JOIN session_cards c ON c.session = s.number LEFT JOIN leases l ON l.session = s.number`;
/** Up to this many matches of a search are looked up one by one. With more, scanning the list finds enough soon. */
const fewMatches = 2_000;
const longestQueue = 10_000;

type PageQuery = Omit<ListingQuery, "after"> & { readonly after: Place | undefined };

/** The numbers of the matching sessions, if there are few. */
type Matches = readonly number[] | "many";

interface ReportsParts {
  readonly queries: Queries;
  readonly reader: Reader;
  readonly leases: LeaseJudge;
  readonly clock: Clock;
  readonly path: string;
  /** This process as an owner of leases. */
  readonly owner: string;
  readonly number: (id: SessionId) => number;
}

/** Reads of sessions and lists. The base class reads usage. */
export class SqliteReports extends UsageReports implements Reports {
  readonly #parts: ReportsParts;
  readonly #queries: Queries;
  #lastSearch: { readonly text: string; readonly version: number; readonly found: Matches } | undefined;

  constructor(parts: ReportsParts) {
    super(parts.queries, parts.clock, parts.number);
    this.#parts = parts;
    this.#queries = parts.queries;
  }

  async findByPrefix(prefix: string): Promise<readonly SessionRecord[]> {
    return this.#parts.reader.sessionsLike(prefix);
  }

  async abandoned(): Promise<readonly SessionId[]> {
    const { reader, leases } = this.#parts;
    const stateOf = leases.look();
    return reader
      .underWay()
      .filter((driven) => isLeft(driven, stateOf(driven.holder)))
      .map(({ id }) => id);
  }

  async held(): Promise<ReadonlyMap<SessionId, HeldSession>> {
    return this.#parts.reader.held(this.#parts.owner);
  }

  async hasSignals(id: SessionId): Promise<boolean> {
    return this.#parts.reader.hasSignals(id);
  }

  async findReferenced(hashes: readonly string[], by?: SessionId): Promise<ReadonlySet<string>> {
    return this.#parts.reader.referenced(hashes, by);
  }

  async references(page: ReferencePage): Promise<readonly Reference[]> {
    return this.#parts.reader.references(page);
  }

  async list(query: ListingQuery): Promise<readonly ListedSession[]> {
    const { statuses, order, limit, text } = query;
    const matches = text === undefined ? undefined : this.#matches(text);
    // Reads each status along its index and merges the results. One query would sort everything again for each page.
    const parts: readonly (SessionStatus | undefined)[] = statuses ?? [undefined];
    const after = query.after === undefined ? undefined : readCursor(query.after);
    const found = parts.flatMap((status) => this.#part({ ...query, after }, status, matches));
    if (parts.length > 1) found.sort(order === "created" ? newestFirst : lastChangedFirst);
    return found.slice(0, limit);
  }

  async listed(ids: readonly SessionId[]): Promise<readonly ListedSession[]> {
    return this.#queries
      .all(
        `SELECT ${listedColumns} FROM sessions s ${besides} WHERE s.id IN (SELECT value FROM json_each(?))`,
        JSON.stringify(ids),
      )
      .map(toListed);
  }

  async count(filter: Omit<ListingFilter, "statuses" | "heldAt">, now: number): Promise<ListingCounts> {
    const matches = filter.text === undefined ? undefined : this.#matches(filter.text);
    const { where, values } = conditionsOf(filter, matches);
    const source =
      matches === "many" ? "session_texts t CROSS JOIN sessions s ON s.number = t.session" : "sessions s";
    // The plus keeps the status index from being used: with a filter, reading the table in order is faster.
    const by = where === "" ? "s.status" : "+s.status";
    const counted = this.#queries.all(
      `SELECT s.status, count(*) FROM ${source} ${where} GROUP BY ${by}`,
      ...values,
    );
    const counts = new Map(counted as [string, number][]);
    const running = conditionsOf({ ...filter, heldAt: now }, matches, "running");
    const [row] = this.#queries.all(
      `SELECT count(*) FROM sessions s ${joinTexts(matches)} ${besides} ${running.where}`,
      ...running.values,
    );
    return {
      byStatus: Object.fromEntries(
        sessionStatuses.map((status) => [status, counts.get(status) ?? 0]),
      ) as ListingCounts["byStatus"],
      held: Number(row?.[0] ?? 0),
    };
  }

  async queued(): Promise<readonly SessionId[]> {
    return this.#queries
      .all(
        `SELECT id FROM sessions WHERE status = 'queued' AND wake_at IS NOT NULL
       ORDER BY priority DESC, wake_at, number LIMIT ${longestQueue}`,
      )
      .map(([id]) => id as SessionId);
  }

  async changes(after: Position, limit: number): Promise<readonly JournalChange[]> {
    return this.#queries
      .all(
        `SELECT j.position, s.id, j.seq, j.at, j.kind FROM journal j CROSS JOIN sessions s ON s.number = j.session
       WHERE j.position > ? ORDER BY j.position LIMIT ?`,
        Number(after),
        limit,
      )
      .map(
        ([position, id, seq, at, kind]) =>
          ({ position: String(position), id, seq, at, kind }) as JournalChange,
      );
  }

  async position(): Promise<Position> {
    const [row] = this.#queries.all(`SELECT ${lastPosition}`);
    return String(row?.[0]) as Position;
  }

  #part(query: PageQuery, status: SessionStatus | undefined, matches: Matches | undefined): ListedSession[] {
    const { order, limit } = query;
    const { where, values } = conditionsOf(query, matches, status);
    const by = order === "created" ? "s.number DESC" : "s.status_at DESC, s.number DESC";
    return this.#queries
      .all(
        `SELECT ${listedColumns} FROM sessions s ${joinTexts(matches)} ${besides} ${where} ORDER BY ${by} LIMIT ?`,
        ...values,
        limit,
      )
      .map(toListed);
  }

  /** Searched once for a page and its counts, as long as nothing is written in between. */
  #matches(text: string): Matches {
    const version = Number(this.#queries.all("PRAGMA data_version")[0]?.[0]);
    const last = this.#lastSearch;
    // Only writes of other connections change the version, and a database in memory has none.
    if (last?.text === text && last.version === version && this.#parts.path !== ":memory:") return last.found;
    const numbers = this.#queries
      .all(
        `SELECT session FROM session_texts WHERE instr(text, ?) > 0 LIMIT ${fewMatches + 1}`,
        text.toLowerCase(),
      )
      .map(([number]) => number as number);
    const found = numbers.length > fewMatches ? "many" : numbers;
    this.#lastSearch = { text, version, found };
    return found;
  }
}

/** The list of sessions drives the query. The planner must not reverse the join. */
const joinTexts = (matches: Matches | undefined): string =>
  matches === "many" ? "CROSS JOIN session_texts t ON t.session = s.number" : "";

function conditionsOf(
  { heldAt, text = "", team, since, after, order }: ListingFilter & Partial<PageQuery>,
  matches: Matches | undefined,
  status?: SessionStatus,
): { where: string; values: SQLInputValue[] } {
  const conditions: string[] = [];
  const values: SQLInputValue[] = [];
  const add = (condition: string, ...given: SQLInputValue[]): void => {
    conditions.push(condition);
    values.push(...given);
  };
  if (status !== undefined) add("s.status = ?", status);
  if (heldAt !== undefined) add("c.held_until > ?", heldAt);
  if (matches === "many") add("instr(t.text, ?) > 0", text.toLowerCase());
  else if (matches !== undefined)
    add("s.number IN (SELECT value FROM json_each(?))", JSON.stringify(matches));
  if (team !== undefined) add("s.team = ?", team);
  if (since !== undefined) add("s.created_at >= ?", since);
  if (after !== undefined && order === "created") add("s.number < ?", after.number);
  if (after !== undefined && order === "status")
    add("(s.status_at, s.number) < (?, ?)", after.statusAt, after.number);
  return { where: conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`, values };
}

const newestFirst = (a: ListedSession, b: ListedSession): number =>
  readCursor(b.cursor).number - readCursor(a.cursor).number;
const lastChangedFirst = (a: ListedSession, b: ListedSession): number =>
  b.statusAt - a.statusAt || newestFirst(a, b);
