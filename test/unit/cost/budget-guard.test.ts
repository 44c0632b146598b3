import { expect, onTestFinished, test } from "vitest";
import { BudgetGuard, type Reserved } from "../../../src/cost/budget.ts";
import { BudgetExceeded, LeaseLost } from "../../../src/domain/errors.ts";
import type { ReservationId } from "../../../src/domain/ledger.ts";
import { ManualClock } from "../../../src/domain/manual-clock.ts";
import type { Lease, ReservationRequest } from "../../../src/store/journal.ts";
import { SqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import {
  amount,
  expectTotalsAddUp,
  granted,
  limit,
  request,
  settle,
  took,
  totalsAt,
} from "../../contract/ledger-support.ts";
import { createAndClaim } from "../../contract/store-under-test.ts";
import { newSeed, seededRandom } from "../domain/seeded-random.ts";

async function openGuard() {
  const clock = new ManualClock();
  const store = new SqliteStore({ path: ":memory:", clock, leaseMs: 15_000 });
  onTestFinished(() => store.close());
  const guard = new BudgetGuard(store, clock);
  const { id, lease } = await createAndClaim(store);
  return { clock, store, guard, id, lease };
}

/** Lets everything that can happen without time passing happen. */
async function quiet(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
}

const reservationOf = (answer: Reserved): ReservationId => {
  if (answer.kind === "granted") return answer.reservation;
  throw new Error(`not granted: ${JSON.stringify(answer)}`);
};

const reserved = async (
  guard: BudgetGuard,
  lease: Lease,
  asked: ReservationRequest,
): Promise<ReservationId> => reservationOf(await guard.reserve(lease, asked));

/** Asks and notes how it ended. */
function asking(guard: BudgetGuard, lease: Lease, over: Partial<ReservationRequest>, signal?: AbortSignal) {
  const asked: { reservation?: ReservationId; error?: unknown; done: Promise<void> } = {
    done: Promise.resolve(),
  };
  asked.done = guard.reserve(lease, request(over), signal).then(
    (answer) => void (asked.reservation = reservationOf(answer)),
    (error: unknown) => void (asked.error = error),
  );
  return asked;
}

const limits = [limit("session", { tokens: 150 })];

test("a call waits for those under way and is granted as soon as one of this process is settled", async () => {
  const { store, guard, lease, clock } = await openGuard();
  const first = await reserved(guard, lease, request({ limits }));
  const second = asking(guard, lease, { limits });
  await quiet();
  expect(second.reservation).toBeUndefined();
  await settle(store, lease, first, took(10));
  guard.settled();
  await second.done;
  expect(second.reservation).toBeDefined();
  expect(second.reservation).not.toBe(first);
  expect(clock.pending(), "nothing waits any more").toBe(0);
});

test("a settlement of another process is noticed within a quarter of a second", async () => {
  const { store, guard, lease, clock } = await openGuard();
  const first = await granted(store, lease, { limits });
  const second = asking(guard, lease, { limits });
  await quiet();
  await settle(store, lease, first, took(10));
  await clock.advance(249);
  await quiet();
  expect(second.reservation).toBeUndefined();
  await clock.advance(1);
  await second.done;
  expect(second.reservation).toBeDefined();
});

test("a call that was never sent makes room at once", async () => {
  const { guard, lease } = await openGuard();
  const first = await reserved(guard, lease, request({ limits }));
  const second = asking(guard, lease, { limits });
  await quiet();
  await guard.release(lease, first);
  await second.done;
  expect(second.reservation).toBeDefined();
});

test("a call that can never fit is refused at once, with all numbers and the command that raises the budget", async () => {
  const { store, guard, id, lease } = await openGuard();
  await settle(store, lease, await reserved(guard, lease, request({ limits })), took(61));
  const { error } = await ended(asking(guard, lease, { limits }));
  expect(error).toBeInstanceOf(BudgetExceeded);
  const { details, message, advice } = error as BudgetExceeded;
  expect(details).toEqual({
    level: "session",
    name: id,
    unit: "tokens",
    limit: 150,
    used: 61,
    asked: 100,
    session: id,
  });
  expect(message).toBe(
    `The budget of session ${id} is 150 tokens: 61 tokens used, and the next call may take another 100 tokens.`,
  );
  expect(advice).toBe(
    `Raise it to at least this: maestro budget ${id} --tokens 161; Then resume: maestro resume ${id}`,
  );
});

test("a call that would probably fit says why more is reserved for it", async () => {
  const { guard, id, lease } = await openGuard();
  const asked = { tokens: 47_572, microUsd: 47_572 };
  const likely = { tokens: 28_100, microUsd: 28_100 };
  const why = "tokens that the provider has not counted yet are reserved at their maximum";
  const tokens = [limit("session", { tokens: 40_000 })];
  const { error } = await ended(asking(guard, lease, { asked, likely, limits: tokens }));
  expect((error as BudgetExceeded).message).toBe(
    `The budget of session ${id} is 40,000 tokens: 0 tokens used, and the next call may take another 47,572 tokens (probably less than 28,100 tokens: ${why}).`,
  );
  expect((error as BudgetExceeded).advice).toContain("--tokens 47572");
  const dollars = [limit("session", { microUsd: 40_000 })];
  const costly = await ended(asking(guard, lease, { asked, likely, limits: dollars }));
  expect((costly.error as BudgetExceeded).message).toContain(
    `$0.047572 (probably less than $0.0281: ${why})`,
  );
});

test("dollars are shown as dollars, and the advice is never less than what is needed", async () => {
  const { store, guard, id, lease } = await openGuard();
  const dollars = [limit("persona", { microUsd: 500_000 })];
  await settle(store, lease, await reserved(guard, lease, request({ limits: dollars })), took(10));
  const asked = { tokens: 10, microUsd: 612_345 };
  const { error } = await ended(asking(guard, lease, { asked, limits: dollars }));
  expect((error as BudgetExceeded).message).toContain(
    "budget of persona architect is $0.50: $0.00002 used, and the next call may take another $0.612345",
  );
  expect((error as BudgetExceeded).advice).toContain(`maestro budget ${id} --persona architect --usd 0.62`);
  const day = await ended(asking(guard, lease, { asked, limits: [limit("day", { microUsd: 1 })] }));
  expect((day.error as BudgetExceeded).advice).toContain("next day (UTC)");
  expect((day.error as BudgetExceeded).details).toMatchObject({ level: "day", name: "2026-01-01" });
});

test("a model without a price under a dollar budget says how to give it one", async () => {
  const { store, guard, lease } = await openGuard();
  const dollars = [limit("session", { microUsd: 500_000 })];
  const asked = amount(10, null);
  const { error } = await ended(
    asking(guard, lease, { asked, model: "openai-compatible/llama", limits: dollars }),
  );
  expect(error).toBeInstanceOf(BudgetExceeded);
  expect((error as BudgetExceeded).message).toContain("price of openai-compatible/llama is not known");
  expect((error as BudgetExceeded).advice).toContain('prices: { "openai-compatible/llama"');
  expect((error as BudgetExceeded).advice).toContain("--tokens");
  // A price given later does not price what was spent before.
  await settle(
    store,
    lease,
    await reserved(guard, lease, request({ asked })),
    took(5, { costMicroUsd: null }),
  );
  const later = await ended(asking(guard, lease, { limits: dollars }));
  expect((later.error as BudgetExceeded).message).toContain("earlier calls have no known price");
});

test("waiting calls are served in order: a small call does not overtake a large one", async () => {
  const { store, guard, lease } = await openGuard();
  const order: string[] = [];
  const first = await reserved(guard, lease, request({ asked: amount(120), limits }));
  const take = async (name: string, tokens: number) => {
    await guard.reserve(lease, request({ asked: amount(tokens), limits }));
    order.push(name);
  };
  const large = take("large", 140);
  await quiet();
  const waiting = [large, take("small", 5), take("tiny", 1)];
  await quiet();
  // There is room for both small ones, and yet the large one goes first.
  expect(order).toEqual([]);
  await settle(store, lease, first, took(0));
  guard.settled();
  await Promise.all(waiting);
  expect(order).toEqual(["large", "small", "tiny"]);
});

test("a call that waits for one budget does not delay calls with another", async () => {
  const { store, guard, lease } = await openGuard();
  const own = [limit("persona", { tokens: 100 }), limit("session", { tokens: 10_000 })];
  await guard.reserve(lease, request({ limits: own }));
  const blocked = asking(guard, lease, { limits: own });
  await quiet();
  await ended(asking(guard, lease, { persona: "skeptic", limits: own }));
  const other = await createAndClaim(store);
  await ended(asking(guard, other.lease, { limits: own }));
  expect(blocked.reservation).toBeUndefined();
});

test("a stop ends the wait at once, and the calls behind it proceed", async () => {
  const { store, guard, lease, clock } = await openGuard();
  const stop = new AbortController();
  const first = await reserved(guard, lease, request({ asked: amount(60), limits }));
  const large = asking(guard, lease, { asked: amount(140), limits }, stop.signal);
  const small = asking(guard, lease, { asked: amount(80), limits });
  await quiet();
  stop.abort(new Error("stopped"));
  await large.done;
  expect(large.error).toEqual(new Error("stopped"));
  await small.done;
  expect(small.reservation).toBeDefined();
  expect(clock.pending()).toBe(0);
  await expect(guard.reserve(lease, request(), AbortSignal.abort(new Error("before")))).rejects.toThrow(
    "before",
  );
  await settle(store, lease, first, took(1));
  expect((await totalsAt(store, lease.sessionId, "session")).reserved).toEqual(amount(80));
});

test("a stop while the answer is on its way leaves nothing reserved", async () => {
  const { store, guard, lease } = await openGuard();
  const stop = new AbortController();
  const direct = asking(guard, lease, { limits }, stop.signal);
  stop.abort(new Error("stopped"));
  await direct.done;
  expect(direct.error).toEqual(new Error("stopped"));
  const first = await reserved(guard, lease, request({ limits }));
  const later = new AbortController();
  const waiting = asking(guard, lease, { limits }, later.signal);
  await quiet();
  await settle(store, lease, first, took(10));
  guard.settled();
  later.abort(new Error("stopped"));
  await waiting.done;
  await quiet();
  expect(waiting.error).toEqual(new Error("stopped"));
  expect((await totalsAt(store, lease.sessionId, "session")).reserved).toEqual(amount(0));
});

test("a call that waits for the day's budget is granted when a new day begins", async () => {
  const { guard, lease, clock } = await openGuard();
  await clock.advance(24 * 3_600_000 - 1_000);
  const day = [limit("day", { tokens: 150 })];
  await guard.reserve(lease, request({ limits: day }));
  const second = asking(guard, lease, { limits: day });
  await clock.advance(900);
  await quiet();
  expect(second.reservation).toBeUndefined();
  await clock.advance(400);
  await second.done;
  expect(second.reservation).toBeDefined();
});

test("a driver that lost its lease while it waited gets LeaseLost", async () => {
  const { store, guard, id, lease, clock } = await openGuard();
  await guard.reserve(lease, request({ limits }));
  const waiting = asking(guard, lease, { limits });
  await quiet();
  await store.releaseSession(lease);
  await store.claimSession(id, "start");
  await clock.advance(250);
  await waiting.done;
  expect(waiting.error).toBeInstanceOf(LeaseLost);
});

test("64 workers share a budget for half of them: never more at once, all served, all added up", async () => {
  const { store, guard, id, lease } = await openGuard();
  const seed = newSeed();
  const random = seededRandom(seed);
  const budget = [limit("session", { tokens: 32 * 100 })];
  let under = 0;
  let most = 0;
  await Promise.all(
    Array.from({ length: 64 }, async () => {
      const reservation = await reserved(guard, lease, request({ limits: budget }));
      under += 1;
      most = Math.max(most, under);
      for (let turn = Math.floor(random() * 10); turn > 0; turn -= 1) await new Promise(setImmediate);
      under -= 1;
      await settle(store, lease, reservation, took(Math.floor(random() * 20)));
      guard.settled();
    }),
  );
  expect(most, `seed ${seed}`).toBeLessThanOrEqual(32);
  expect(most).toBeGreaterThan(16);
  await expectTotalsAddUp(store, [id]);
});

async function ended(asked: ReturnType<typeof asking>) {
  await asked.done;
  return asked;
}
