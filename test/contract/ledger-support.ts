import { expect } from "vitest";
import { type Amount, add, type Budget, type Ledger, noAmount } from "../../src/domain/budget.ts";
import { type Clock, systemClock } from "../../src/domain/clock.ts";
import type { SessionId } from "../../src/domain/ids.ts";
import { countedAs, type ReservationId } from "../../src/domain/ledger.ts";
import { isSimulated } from "../../src/domain/simulated.ts";
import type { Spent } from "../../src/domain/usage.ts";
import type { BudgetLimit, Lease, ReservationRequest } from "../../src/store/journal.ts";
import type { LedgerCall, LevelTotals } from "../../src/store/reports.ts";
import type { Store } from "../../src/store/store.ts";
import { step } from "./store-under-test.ts";

/** For processes that share a day's budget: no test may see two days. */
export const alwaysNoon: Clock = { ...systemClock, now: () => Date.UTC(2026, 0, 1, 12) };

export const amount = (tokens: number, microUsd: number | null = tokens * 2): Amount => ({
  tokens,
  microUsd,
});

export function request(over: Partial<ReservationRequest> = {}): ReservationRequest {
  return {
    phase: "design",
    persona: "architect",
    round: 1,
    attempt: 1,
    started: 2,
    model: "anthropic/claude",
    asked: amount(100),
    limits: [],
    ...over,
  };
}

export const limit = (level: BudgetLimit["level"], budget: Budget): BudgetLimit => ({ level, budget });

/** A call that took `tokens`, two thirds of them input, at two micro-dollars each. */
export function took(tokens: number, over: Partial<Spent> = {}): Spent {
  const outputTokens = Math.floor(tokens / 3);
  return {
    usage: {
      inputTokens: tokens - outputTokens,
      cachedInputTokens: 0,
      cacheWriteTokens: 0,
      outputTokens,
      reasoningTokens: 0,
    },
    costMicroUsd: tokens * 2,
    ...over,
  };
}

export async function granted(
  store: Store,
  lease: Lease,
  over: Partial<ReservationRequest> = {},
): Promise<ReservationId> {
  const answer = await store.reserve(lease, request(over));
  if (answer.kind !== "granted") throw new Error(`not granted: ${JSON.stringify(answer)}`);
  return answer.reservation;
}

/** With a step of its own; gives the seq of that step. */
export async function settle(
  store: Store,
  lease: Lease,
  reservation: ReservationId,
  spent: Spent,
  failed = false,
): Promise<number> {
  const settlement = { reservation, spent, failed };
  const [row] = await store.append(lease, [step(1, { name: `call ${reservation}` })], { settlement });
  return row?.seq ?? 0;
}

export async function call(
  store: Store,
  lease: Lease,
  spent: Spent,
  over: Partial<ReservationRequest> = {},
): Promise<number> {
  return settle(store, lease, await granted(store, lease, over), spent);
}

export async function totalsAt(
  store: Store,
  id: SessionId,
  level: LevelTotals["level"],
  name?: string,
): Promise<Ledger> {
  const found = (await store.reports.totals(id)).find(
    (totals) => totals.level === level && (name === undefined || totals.name === name),
  );
  return found === undefined
    ? { used: noAmount, reserved: noAmount }
    : { used: found.used, reserved: found.reserved };
}

export async function allCalls(store: Store, id: SessionId): Promise<LedgerCall[]> {
  const calls: LedgerCall[] = [];
  for (;;) {
    const last = calls.at(-1);
    const page = await store.reports.calls(id, last === undefined ? {} : { after: last.reservation });
    if (page.length === 0) return calls;
    calls.push(...page);
  }
}

/** The expected totals, added up from scratch. */
export function addUp(calls: readonly LedgerCall[]): Ledger {
  return calls.reduce<Ledger>(
    ({ used, reserved }, call) =>
      call.status === "open"
        ? { used, reserved: add(reserved, call.asked) }
        : { used: add(used, countedAs(call, call.asked)), reserved },
    { used: noAmount, reserved: noAmount },
  );
}

/** Every total of these sessions equals the sum of its rows, and the day is the sum of all that was really paid. */
export async function expectTotalsAddUp(store: Store, ids: readonly SessionId[]): Promise<void> {
  const calls: LedgerCall[] = [];
  for (const id of ids) {
    const own = await allCalls(store, id);
    calls.push(...own);
    expect(await totalsAt(store, id, "session")).toEqual(addUp(own));
    for (const name of new Set(own.map(({ phase }) => phase)))
      expect(await totalsAt(store, id, "phase", name)).toEqual(
        addUp(own.filter(({ phase }) => phase === name)),
      );
    for (const name of new Set(own.map(({ persona }) => persona)))
      expect(await totalsAt(store, id, "persona", name)).toEqual(
        addUp(own.filter(({ persona }) => persona === name)),
      );
    const { total } = await store.reports.usage({ by: "model", sessions: [id] });
    const { used } = addUp(own);
    expect(total.inputTokens + total.outputTokens + total.estimatedTokens).toBe(used.tokens);
    if (used.microUsd !== null) expect(total.costMicroUsd + total.estimatedMicroUsd).toBe(used.microUsd);
    expect(total.calls).toBe(own.filter(({ status }) => status !== "open").length);
  }
  // Invented money is not the day's.
  const real = calls.filter(({ model }) => !isSimulated(model));
  if (ids[0] !== undefined) expect(await totalsAt(store, ids[0], "day")).toEqual(addUp(real));
}
