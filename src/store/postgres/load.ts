import { newBreaker, parseBreaker } from "../../domain/breaker.ts";
import { parseJson } from "../../domain/json.ts";
import { type ReservationId, utcDay } from "../../domain/ledger.ts";
import type { SessionCard } from "../../journal/session-card.ts";
import { levelsOf } from "../decisions/ledger.ts";
import { type RecentCall, rateWindowMs } from "../decisions/rates.ts";
import {
  type LedgerRow,
  ledgerColumns,
  type TotalsRow,
  totalsColumns,
  totalsKey,
} from "../sql/ledger-row.ts";
import type { Batch, BatchCommand, BreakerImage, Waiting } from "./batch.ts";
import { LedgerImage, type TotalsKey } from "./ledger-image.ts";
import { type LoadedSession, SessionImage } from "./session-image.ts";
import type { Transaction } from "./transactions.ts";

/** The rows that the commands of a batch decide on. */
interface Needs {
  readonly sessions: Set<number>;
  readonly inboxes: Set<number>;
  /** Sessions whose open calls may end. */
  readonly openCalls: Set<number>;
  readonly reservations: Set<number>;
  readonly steps: (readonly [session: number, step: number])[];
  readonly totals: TotalsKey[];
  readonly alerts: Set<number>;
  readonly providers: Map<string, number>;
  readonly breakers: Set<string>;
  readonly creates: Extract<BatchCommand, { verb: "create" }>[];
  readonly claim: Extract<BatchCommand, { verb: "claim" }> | undefined;
  readonly reserves: number;
}

function needsOf(commands: readonly BatchCommand[]): Needs {
  const needs = {
    sessions: new Set<number>(),
    inboxes: new Set<number>(),
    openCalls: new Set<number>(),
    reservations: new Set<number>(),
    steps: [] as (readonly [number, number])[],
    totals: [] as TotalsKey[],
    alerts: new Set<number>(),
    providers: new Map<string, number>(),
    breakers: new Set<string>(),
    creates: [] as Extract<BatchCommand, { verb: "create" }>[],
    claim: commands.find(
      (command) => command.verb === "claim" && command.limits.length > 0,
    ) as Needs["claim"],
    reserves: commands.filter(({ verb }) => verb === "reserve").length,
  };
  for (const command of commands) {
    if ("session" in command && typeof command.session === "number") needs.sessions.add(command.session);
    switch (command.verb) {
      case "create":
        needs.creates.push(command);
        break;
      case "claim":
        needs.inboxes.add(command.session);
        needs.openCalls.add(command.session);
        break;
      case "receive":
        needs.inboxes.add(command.session);
        break;
      case "release":
      case "estimate":
        needs.openCalls.add(command.session);
        break;
      case "append": {
        const { settlement, savings = [], alerts = [], call } = command.effects;
        if (settlement !== undefined) needs.reservations.add(numberOf(settlement.reservation));
        for (const saving of savings)
          if ("steps" in saving) for (const step of saving.steps) needs.steps.push([command.session, step]);
        if (alerts.length > 0) needs.alerts.add(0).add(command.session);
        if (call !== undefined) needs.breakers.add(call.use.dependency);
        break;
      }
      case "admit":
        needs.breakers.add(command.use.dependency);
        break;
      case "end-call":
        needs.breakers.add(command.call.use.dependency);
        break;
      case "release-reservation":
        needs.reservations.add(numberOf(command.reservation));
        break;
      case "reserve": {
        const { request, session, sessionId, at } = command;
        const { phase, persona, model } = request;
        const place = { phase, persona, session: sessionId, day: utcDay(at) };
        for (const { level } of request.limits)
          if (levelsOf(model).includes(level)) needs.totals.push(totalsKey(session, level, place));
        if (request.rate !== undefined) needs.providers.set(request.rate.provider, at);
      }
    }
  }
  return needs;
}

/** Loads and locks, in one order for all processes. Everything is asked for before the first answer is awaited. */
export async function load(transaction: Transaction, commands: readonly BatchCommand[]): Promise<Batch> {
  const needs = needsOf(commands);
  const numbers = [...needs.sessions];
  const ask = <Row extends object>(isNeeded: boolean, text: string, values: readonly unknown[]) =>
    isNeeded ? transaction.read<Row & Record<string, unknown>>(text, values) : Promise.resolve([] as Row[]);
  const limits = needs.claim?.limits ?? [];
  const locks = [
    ...limits.map(({ kind, name }) => `limit ${kind} ${name}`),
    ...[...needs.providers.keys()].map((provider) => `rate ${provider}`),
  ].sort();
  const locked = ask(
    locks.length > 0,
    `SELECT pg_advisory_xact_lock(hashtextextended(name, 1)) FROM unnest($1::text[]) WITH ORDINALITY AS l (name, place)
     ORDER BY place`,
    [locks],
  );
  const sessions = ask<LoadedSession>(
    numbers.length > 0,
    `SELECT s.number, s.id, l.epoch, l.owner, l.seq, l.hash, s.status, s.reason, s.wake_at AS "wakeAt", s.blocked,
       s.team_fingerprint AS "teamFingerprint", s.recoveries, s.updated_at AS "updatedAt", s.status_at AS "statusAt"
     FROM leases l JOIN sessions s ON s.number = l.session WHERE l.session = ANY($1::bigint[])
     ORDER BY l.session FOR NO KEY UPDATE OF l, s`,
    [numbers],
  );
  // After the locks, so that they are as new as the locked rows.
  const besides = ask<{ number: number; beat: number | null; card: string | null }>(
    numbers.length > 0,
    `SELECT l.session AS number, o.beats AS beat, c.card FROM leases l LEFT JOIN owners o ON o.id = l.owner
     LEFT JOIN session_cards c ON c.session = l.session WHERE l.session = ANY($1::bigint[])`,
    [numbers],
  );
  const inbox = ask<Waiting & { session: number }>(
    needs.inboxes.size > 0,
    "SELECT id, session, at, body FROM inbox WHERE session = ANY($1::bigint[]) ORDER BY id",
    [[...needs.inboxes]],
  );
  const calls = ask<LedgerRow>(
    needs.openCalls.size + needs.reservations.size + needs.steps.length > 0,
    `SELECT ${ledgerColumns} FROM ledger WHERE number = ANY($1::bigint[])
     UNION SELECT ${ledgerColumns} FROM ledger WHERE session = ANY($2::bigint[]) AND status = 'open'
     UNION SELECT ${ledgerColumns} FROM ledger
       WHERE (session, step) IN (SELECT * FROM unnest($3::bigint[], $4::int[])) ORDER BY number`,
    [
      [...needs.reservations],
      [...needs.openCalls],
      needs.steps.map(([session]) => session),
      needs.steps.map(([, step]) => step),
    ],
  );
  const totals = loadTotals(transaction, needs.totals);
  const alerts = ask<{ key: readonly unknown[] }>(
    needs.alerts.size > 0,
    `SELECT json_build_array(session, level, name, kind, unit, budget) AS key FROM budget_alerts
     WHERE session = ANY($1::bigint[])`,
    [[...needs.alerts]],
  );
  const breakers = ask<{ name: string; record: string }>(
    needs.breakers.size > 0,
    "SELECT name, record FROM breakers WHERE name = ANY($1::text[])",
    [[...needs.breakers]],
  );
  const recent = [...needs.providers].map(async ([provider, at]) => {
    const rows = await transaction.read<RecentCall & Record<string, unknown>>(
      `SELECT at, ended_at AS "endedAt", coalesce(input_tokens + output_tokens, asked_tokens) AS tokens
       FROM ledger WHERE at > $1 AND (model = $2 OR starts_with(model, $2 || '/'))`,
      [at - rateWindowMs, provider],
    );
    return [provider, rows] as const;
  });
  const allRecent = Promise.all(recent);
  const running = ask<{ team: number; model: number; queue: number }>(
    needs.claim !== undefined,
    `SELECT count(*) FILTER (WHERE s.team = $1) AS team, count(*) FILTER (WHERE s.model = $2) AS model,
       count(*) FILTER (WHERE s.queue = $3) AS queue
     FROM leases l JOIN sessions s ON s.number = l.session
     WHERE l.owner IS NOT NULL AND s.status = 'running' AND s.number <> $4 AND l.owner <> ALL($5::text[])`,
    [
      ...(["team", "model", "queue"] as const).map(
        (kind) => limits.find((limit) => limit.kind === kind)?.name,
      ),
      needs.claim?.session,
      needs.claim?.deadOwners ?? [],
    ],
  );
  const known = ask<{ id: string; key: string | null }>(
    needs.creates.length > 0,
    "SELECT id, key FROM sessions WHERE id = ANY($1::text[]) OR key = ANY($2::text[])",
    [
      needs.creates.map(({ session }) => session.id),
      needs.creates.flatMap(({ session }) => session.key ?? []),
    ],
  );
  const newNumbers = numbersFrom(transaction, "sessions", needs.creates.length);
  const newCalls = numbersFrom(transaction, "ledger", needs.reserves);
  // When another statement fails first, they are never awaited.
  for (const asked of [newNumbers, newCalls, allRecent]) asked.catch(() => undefined);
  const [
    ,
    sessionRows,
    besideRows,
    inboxRows,
    callRows,
    totalsRows,
    alertRows,
    breakerRows,
    [count],
    existing,
  ] = await Promise.all([locked, sessions, besides, inbox, calls, totals, alerts, breakers, running, known]);
  const [numbersOfSessions, numbersOfCalls, recentRows] = [await newNumbers, await newCalls, await allRecent];
  const images = new Map(sessionRows.map((row) => [row.number, new SessionImage(row)]));
  for (const { number, beat, card } of besideRows) {
    const image = images.get(number);
    if (image === undefined) continue;
    image.beat = beat;
    image.card = readCard(card);
  }
  const ledger = new LedgerImage();
  ledger.load(
    callRows,
    totalsRows,
    alertRows.map(({ key }) => key),
    numbersOfCalls,
  );
  for (const [provider, rows] of recentRows) ledger.loadRecent(provider, rows);
  return {
    sessions: images,
    created: [],
    ledger,
    breakers: new Map([...needs.breakers].map((name) => [name, imageOf(name, breakerRows)])),
    inbox: Map.groupBy(inboxRows, ({ session }) => session),
    received: [],
    tickets: [],
    claimants: new Map(),
    taken: {
      ids: new Set(existing.map(({ id }) => id)),
      keys: new Set(existing.flatMap(({ key }) => key ?? [])),
    },
    numbers: numbersOfSessions,
    running: new Map(Object.entries<number>(count ?? {})),
  };
}

/**
 * Only totals with a limit are locked. A total that is not there yet is created first, because a missing row cannot be
 * locked. Days come last: all processes share them.
 */
async function loadTotals(transaction: Transaction, keys: readonly TotalsKey[]) {
  if (keys.length === 0) return [];
  const sorted = [...new Map(keys.map((key) => [JSON.stringify(key), key])).values()].sort(
    (one, other) => other[0] - one[0],
  );
  const values = [0, 1, 2].map((at) => sorted.map((key) => key[at as 0 | 1 | 2]));
  transaction.write(
    `INSERT INTO budget_totals (session, level, name, used_tokens, used_micro_usd, used_unpriced, reserved_tokens,
       reserved_micro_usd, reserved_unpriced)
     SELECT session, level, name, 0, 0, 0, 0, 0, 0 FROM unnest($1::bigint[], $2::text[], $3::text[]) AS k (session, level, name)
     WHERE NOT EXISTS (SELECT 1 FROM budget_totals t WHERE (t.session, t.level, t.name) = (k.session, k.level, k.name))
     ON CONFLICT DO NOTHING`,
    values,
  );
  return transaction.read<TotalsRow & { session: number } & Record<string, unknown>>(
    `SELECT session, ${totalsColumns} FROM budget_totals
     WHERE (session, level, name) IN (SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[]))
     ORDER BY session DESC, level, name FOR UPDATE`,
    values,
  );
}

async function numbersFrom(transaction: Transaction, table: string, count: number): Promise<number[]> {
  if (count === 0) return [];
  const rows = await transaction.read<{ number: number }>(
    "SELECT nextval(pg_get_serial_sequence($1, 'number')) AS number FROM generate_series(1, $2::int)",
    [table, count],
  );
  return rows.map(({ number }) => number);
}

/** 0 for a text that this store never gave. */
function numberOf(reservation: ReservationId): number {
  const number = Number(reservation);
  return Number.isSafeInteger(number) ? number : 0;
}

function imageOf(name: string, rows: readonly { name: string; record: string }[]): BreakerImage {
  const stored = rows.find((row) => row.name === name)?.record;
  const before = stored === undefined ? newBreaker : parseBreaker(parseJson(stored));
  return { before, stored, record: before, changedAt: 0 };
}

function readCard(text: string | null): SessionCard | undefined {
  try {
    return text === null ? undefined : (JSON.parse(text) as SessionCard);
  } catch {
    return undefined;
  }
}
