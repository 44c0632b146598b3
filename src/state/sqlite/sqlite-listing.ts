import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { SessionId } from "../../domain/ids.ts";
import { type ParkReason, type SessionStatus, sessionStatuses } from "../../domain/journal.ts";
import type { SessionCard } from "../../domain/session-card.ts";
import type {
  JournalChange,
  ListedSession,
  ListingCounts,
  ListingFilter,
  ListingQuery,
  ListingStore,
} from "../listing-store.ts";
import { translate } from "./sqlite-errors.ts";

const columns = `s.number, s.id, s.key, s.team, s.team_fingerprint, s.identity, s.status, s.reason, s.created_at,
  s.updated_at, s.status_at, s.wake_at, coalesce(l.epoch, 0), c.card`;
const besides = `LEFT JOIN session_cards c ON c.session = s.number LEFT JOIN leases l ON l.session = s.number`;
/** Up to so many matches are found first and sorted; more of them are met soon enough on the way through the list. */
const fewMatches = 2_000;
const longestQueue = 10_000;

export class SqliteListing implements ListingStore {
  readonly #database: DatabaseSync;
  readonly #path: string;
  readonly #prepared = new Map<string, StatementSync>();

  constructor(database: DatabaseSync, path: string) {
    this.#database = database;
    this.#path = path;
  }

  async page(query: ListingQuery): Promise<readonly ListedSession[]> {
    const { statuses, order, limit } = query;
    const isRare = query.text !== undefined && this.#isRare(query.text);
    // One status at a time, each along its index, and then merged: together they would be sorted anew for each page.
    const parts: readonly (SessionStatus | undefined)[] = statuses ?? [undefined];
    const found = parts.flatMap((status) => this.#part(query, status, isRare));
    if (parts.length > 1) found.sort(order === "created" ? newestFirst : lastChangedFirst);
    return found.slice(0, limit);
  }

  async find(ids: readonly SessionId[]): Promise<readonly ListedSession[]> {
    return this.#all(
      `SELECT ${columns} FROM sessions s ${besides} WHERE s.id IN (SELECT value FROM json_each(?))`,
      JSON.stringify(ids),
    ).map(toListed);
  }

  async count(filter: Omit<ListingFilter, "statuses" | "heldAt">, now: number): Promise<ListingCounts> {
    const { where, values } = conditionsOf(filter);
    const source =
      filter.text === undefined
        ? "sessions s"
        : "session_texts t CROSS JOIN sessions s ON s.number = t.session";
    const counts = new Map(
      this.#all(`SELECT s.status, count(*) FROM ${source} ${where} GROUP BY s.status`, ...values) as [
        string,
        number,
      ][],
    );
    const held = { ...filter, statuses: ["running"], heldAt: now } as const;
    const running = conditionsOf(held, "running");
    const [row] = this.#all(
      `SELECT count(*) FROM sessions s ${besides} ${joinTexts(filter)} ${running.where}`,
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
    return this.#all(
      `SELECT id FROM sessions WHERE status = 'queued' AND wake_at IS NOT NULL
       ORDER BY wake_at, number LIMIT ${longestQueue}`,
    ).map(([id]) => id as SessionId);
  }

  async changes(after: number, limit: number): Promise<readonly JournalChange[]> {
    return this.#all(
      `SELECT j.position, s.id, j.seq, j.at, j.kind FROM journal j CROSS JOIN sessions s ON s.number = j.session
       WHERE j.position > ? ORDER BY j.position LIMIT ?`,
      after,
      limit,
    ).map(([position, id, seq, at, kind]) => ({ position, id, seq, at, kind }) as JournalChange);
  }

  async position(): Promise<number> {
    return Number(this.#all("SELECT coalesce(max(position), 0) FROM journal")[0]?.[0] ?? 0);
  }

  #part(query: ListingQuery, status: SessionStatus | undefined, isRare: boolean): ListedSession[] {
    const { order, limit } = query;
    const { where, values } = conditionsOf(query, status);
    const source = isRare
      ? "session_texts t CROSS JOIN sessions s ON s.number = t.session"
      : `sessions s ${joinTexts(query)}`;
    const by = order === "created" ? "s.number DESC" : "s.status_at DESC, s.number DESC";
    return this.#all(
      `SELECT ${columns} FROM ${source} ${besides} ${where} ORDER BY ${by} LIMIT ?`,
      ...values,
      limit,
    ).map(toListed);
  }

  #isRare(text: string): boolean {
    const [row] = this.#all(
      `SELECT count(*) FROM (SELECT 1 FROM session_texts WHERE instr(text, ?) > 0 LIMIT ${fewMatches + 1})`,
      text.toLowerCase(),
    );
    return Number(row?.[0]) <= fewMatches;
  }

  #all(sql: string, ...values: SQLInputValue[]): unknown[][] {
    try {
      let statement = this.#prepared.get(sql);
      if (statement === undefined) {
        statement = this.#database.prepare(sql);
        statement.setReturnArrays(true);
        this.#prepared.set(sql, statement);
      }
      return statement.all(...values) as unknown as unknown[][];
    } catch (error) {
      throw translate(error, this.#path);
    }
  }
}

/** Driven from the list of sessions: the planner must not turn it around. */
const joinTexts = ({ text }: ListingFilter): string =>
  text === undefined ? "" : "CROSS JOIN session_texts t ON t.session = s.number";

function conditionsOf(
  { heldAt, text, team, since, ...query }: ListingFilter & Partial<ListingQuery>,
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
  if (text !== undefined) add("instr(t.text, ?) > 0", text.toLowerCase());
  if (team !== undefined) add("s.team = ?", team);
  if (since !== undefined) add("s.created_at >= ?", since);
  const { after, order } = query;
  if (after !== undefined && order === "created") add("s.number < ?", after.number);
  if (after !== undefined && order === "status")
    add("(s.status_at, s.number) < (?, ?)", after.statusAt, after.number);
  return { where: conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`, values };
}

const newestFirst = (a: ListedSession, b: ListedSession): number => b.number - a.number;
const lastChangedFirst = (a: ListedSession, b: ListedSession): number =>
  b.statusAt - a.statusAt || b.number - a.number;

function toListed(row: unknown[]): ListedSession {
  const [number, id, key, team, teamFingerprint, identity, status, reason, ...rest] = row;
  const [createdAt, updatedAt, statusAt, wakeAt, epoch, card] = rest;
  return {
    number: number as number,
    id: id as SessionId,
    key: (key as string | null) ?? undefined,
    team: team as string,
    teamFingerprint: teamFingerprint as string,
    identity: identity as string,
    status: status as SessionStatus,
    reason: (reason as ParkReason | null) ?? undefined,
    createdAt: createdAt as number,
    updatedAt: updatedAt as number,
    statusAt: statusAt as number,
    wakeAt: (wakeAt as number | null) ?? undefined,
    epoch: epoch as number,
    card: typeof card === "string" ? (JSON.parse(card) as SessionCard) : undefined,
  };
}
