import { describe, expect, test } from "vitest";
import { InputInvalid, LeaseLost } from "../../src/domain/errors.ts";
import type { ReservationId } from "../../src/domain/ledger.ts";
import { newSeed, seededRandom } from "../unit/domain/seeded-random.ts";
import {
  addUp,
  allCalls,
  amount,
  call,
  expectTotalsAddUp,
  granted,
  limit,
  request,
  settle,
  took,
  totalsAt,
} from "./ledger-support.ts";
import { createAndClaim, type OpenStore, openFor, readAll } from "./store-under-test.ts";

const oneDayMs = 24 * 3_600_000;

export function ledgerContract(open: OpenStore): void {
  describe("a reservation", () => {
    test("reserves the asked amount at every level until the call is settled", async () => {
      const { store, clock } = await openFor(open);
      const { id, lease } = await createAndClaim(store);
      const reservation = await granted(store, lease, { asked: amount(100, 250) });
      const held = { used: amount(0), reserved: amount(100, 250) };
      expect(await store.reports.totals(id)).toEqual(
        expect.arrayContaining([
          { level: "persona", name: "architect", ...held },
          { level: "phase", name: "design", ...held },
          { level: "session", name: id, ...held },
          { level: "day", name: "2026-01-01", ...held },
        ]),
      );
      await clock.advance(5);
      await settle(store, lease, reservation, took(30));
      for (const level of ["persona", "phase", "session", "day"] as const)
        expect(await totalsAt(store, id, level)).toEqual({ used: amount(30, 60), reserved: amount(0) });
      expect(await store.reports.totals(id)).toHaveLength(4);
    });

    test.each([
      ["persona", "architect", { persona: "skeptic" }],
      ["phase", "design", { phase: "build" }],
    ] as const)("of one %s does not weigh on another", async (level, name, other) => {
      const { store } = await openFor(open);
      const { lease } = await createAndClaim(store);
      const limits = [limit(level, { tokens: 150 })];
      await call(store, lease, took(100), { limits });
      expect(await store.reserve(lease, request({ limits }))).toEqual({
        kind: "exceeded",
        level,
        name,
        unit: "tokens",
        limit: 150,
        used: 100,
        asked: 100,
      });
      await granted(store, lease, { limits, ...other });
    });

    test("of one session counts for no other session, except in the day's total", async () => {
      const { store } = await openFor(open);
      const [one, other] = [await createAndClaim(store), await createAndClaim(store)];
      for (const level of ["persona", "phase", "session"] as const) {
        const limits = [limit(level, { tokens: 1_000 })];
        await call(store, one.lease, took(300), { limits });
      }
      const narrow = (["persona", "phase", "session"] as const).map((level) => limit(level, { tokens: 100 }));
      await granted(store, other.lease, { limits: narrow });
      expect(await store.reserve(other.lease, request({ limits: [limit("day", { tokens: 999 })] }))).toEqual({
        kind: "exceeded",
        level: "day",
        name: "2026-01-01",
        unit: "tokens",
        limit: 999,
        used: 900,
        asked: 100,
      });
    });

    test("is granted up to the limit itself, in tokens and in dollars", async () => {
      const { store } = await openFor(open);
      const { id, lease } = await createAndClaim(store);
      const limits = [limit("session", { tokens: 200, microUsd: 500 })];
      await granted(store, lease, { asked: amount(100, 250), limits });
      await granted(store, lease, { asked: amount(100, 250), limits });
      for (const asked of [amount(1, 0), amount(0, 1)])
        expect(await store.reserve(lease, request({ asked, limits }))).toEqual({
          kind: "wait",
          level: "session",
          name: id,
        });
    });

    test("has to wait while only open calls are in the way, and is refused once they have used it up", async () => {
      const { store } = await openFor(open);
      const { lease } = await createAndClaim(store);
      const limits = [limit("persona", { tokens: 150 })];
      const first = await granted(store, lease, { limits });
      expect(await store.reserve(lease, request({ limits }))).toMatchObject({ kind: "wait" });
      await settle(store, lease, first, took(50));
      const second = await granted(store, lease, { limits });
      await settle(store, lease, second, took(51));
      expect(await store.reserve(lease, request({ limits }))).toMatchObject({
        kind: "exceeded",
        used: 101,
        asked: 100,
      });
    });

    test("is granted again when the limit is raised, with all that was used before", async () => {
      const { store } = await openFor(open);
      const { lease } = await createAndClaim(store);
      await call(store, lease, took(100), { limits: [limit("session", { tokens: 100 })] });
      const kind = async (tokens: number) =>
        (await store.reserve(lease, request({ limits: [limit("session", { tokens })] }))).kind;
      expect(await kind(199)).toBe("exceeded");
      expect(await kind(200)).toBe("granted");
    });

    test("without a known price is refused by a dollar budget and granted by a token budget", async () => {
      const { store } = await openFor(open);
      const { id, lease } = await createAndClaim(store);
      const unpriced = { asked: amount(100, null) };
      const dollars = [limit("session", { microUsd: 10 ** 9 })];
      const refusal = { kind: "unpriced", level: "session", name: id };
      expect(await store.reserve(lease, request({ ...unpriced, limits: dollars }))).toEqual(refusal);
      const tokens = [limit("session", { tokens: 200 })];
      await call(store, lease, took(10, { costMicroUsd: null }), { ...unpriced, limits: tokens });
      // The amount spent by then is unknown as well.
      expect(await store.reserve(lease, request({ limits: dollars }))).toEqual(refusal);
      expect(await totalsAt(store, id, "session")).toEqual({ used: amount(10, null), reserved: amount(0) });
    });

    test("belongs to the UTC day it was made on, and a new day has a new budget", async () => {
      const { store, clock } = await openFor(open);
      const { id, lease } = await createAndClaim(store);
      await clock.advance(oneDayMs - 1);
      const limits = [limit("day", { tokens: 100 })];
      const beforeMidnight = await granted(store, lease, { limits });
      expect(await store.reserve(lease, request({ limits }))).toMatchObject({ name: "2026-01-01" });
      await clock.advance(1);
      expect(await totalsAt(store, id, "day")).toEqual({ used: amount(0), reserved: amount(0) });
      const afterMidnight = await granted(store, lease, { limits });
      await settle(store, lease, beforeMidnight, took(80));
      expect(await totalsAt(store, id, "day", "2026-01-02")).toEqual({
        used: amount(0),
        reserved: amount(100),
      });
      await settle(store, lease, afterMidnight, took(90));
      const { groups } = await store.reports.usage({ by: "day" });
      expect(groups.map(({ name, inputTokens, outputTokens }) => [name, inputTokens + outputTokens])).toEqual(
        [
          ["2026-01-01", 80],
          ["2026-01-02", 90],
        ],
      );
    });

    test("that was never sent is released without a trace, once or twice", async () => {
      const { store } = await openFor(open);
      const { id, lease } = await createAndClaim(store);
      const [kept, released] = [await granted(store, lease), await granted(store, lease)];
      await store.withdraw(lease, released);
      await store.withdraw(lease, released);
      expect((await allCalls(store, id)).map(({ reservation }) => reservation)).toEqual([kept]);
      expect(await totalsAt(store, id, "day")).toEqual({ used: amount(0), reserved: amount(100) });
      await settle(store, lease, kept, took(10));
      await expect(store.withdraw(lease, kept)).rejects.toThrow("settled");
      expect((await store.reports.usage({ by: "model" })).total.calls).toBe(1);
    });

    test.each([
      ["more than a call can take", amount(2_000_000_000)],
      ["a fraction", amount(0.5)],
      ["less than nothing", amount(-1)],
      ["no number", amount(Number.NaN)],
    ])("of %s is refused before anything is written", async (_, asked) => {
      const { store } = await openFor(open);
      const { id, lease } = await createAndClaim(store);
      await expect(store.reserve(lease, request({ asked }))).rejects.toThrow(InputInvalid);
      const wrongLimit = [limit("day", { tokens: Number.NaN })];
      await expect(store.reserve(lease, request({ limits: wrongLimit }))).rejects.toThrow(InputInvalid);
      expect(await allCalls(store, id)).toEqual([]);
    });

    test("is refused to a driver that has lost its session, and so are its release and its settlement", async () => {
      const { store } = await openFor(open);
      const { id, lease } = await createAndClaim(store);
      const reservation = await granted(store, lease);
      await store.releaseSession(lease);
      const { lease: next } = await store.claimSession(id, "start");
      await expect(store.reserve(lease, request())).rejects.toThrow(LeaseLost);
      await expect(store.withdraw(lease, reservation)).rejects.toThrow(LeaseLost);
      await expect(settle(store, lease, reservation, took(10))).rejects.toThrow(LeaseLost);
      await expect(store.append(lease, [], { alerts: [] })).rejects.toThrow(LeaseLost);
      // The new driver cannot settle what it did not reserve, and says nothing else with it.
      await expect(settle(store, next, reservation, took(10))).rejects.toThrow("not of this lease");
      expect((await allCalls(store, id)).map(({ status }) => status)).toEqual(["estimated"]);
      expect((await readAll(store, id)).filter(({ kind }) => kind === "step.function")).toEqual([]);
      await expectTotalsAddUp(store, [id]);
    });

    test("that was estimated is settled once when what it took is found, by a later driver of its session alone", async () => {
      const { store } = await openFor(open);
      const { id, lease } = await createAndClaim(store);
      const other = await createAndClaim(store);
      const reservation = await granted(store, lease);
      await store.releaseSession(lease);
      const { lease: next } = await store.claimSession(id, "start");
      const settlement = { reservation, spent: took(10), failed: true, found: true } as const;
      await expect(store.append(other.lease, [], { settlement })).rejects.toThrow("not of this session");
      await store.append(next, [], { settlement });
      expect(await allCalls(store, id)).toMatchObject([{ status: "failed", usage: took(10).usage }]);
      await expect(store.append(next, [], { settlement })).rejects.toThrow("is not estimated");
      await expectTotalsAddUp(store, [id]);
    });

    test("cannot be settled or released by another session's driver", async () => {
      const { store } = await openFor(open);
      const [one, other] = [await createAndClaim(store), await createAndClaim(store)];
      const reservation = await granted(store, one.lease);
      await expect(settle(store, other.lease, reservation, took(10))).rejects.toThrow("not of this lease");
      await store.withdraw(other.lease, reservation);
      expect((await allCalls(store, one.id)).map(({ status }) => status)).toEqual(["open"]);
    });
  });

  describe("a call that is open when its driver ends", () => {
    test("counts as made once its driver released the session, and later drivers do not count it again", async () => {
      const { store, reopen } = await openFor(open);
      const { id, lease } = await createAndClaim(store);
      await call(store, lease, took(10));
      await granted(store, lease, { asked: amount(100, 250) });
      await store.releaseSession(lease);
      const later = (await reopen?.()) ?? store;
      expect(await totalsAt(later, id, "session")).toEqual({ used: amount(110, 270), reserved: amount(0) });
      for (let claims = 0; claims < 3; claims += 1) {
        const { lease } = await later.claimSession(id, "start");
        expect((await later.reports.calls(id)).map(({ status }) => status)).toEqual(["settled", "estimated"]);
        expect(await totalsAt(later, id, "session")).toEqual({ used: amount(110, 270), reserved: amount(0) });
        await later.releaseSession(lease);
      }
      await expectTotalsAddUp(later, [id]);
    });

    test("does not make others wait for the day's budget once its driver released the session: they are refused", async () => {
      const { store } = await openFor(open);
      const [gone, other] = [await createAndClaim(store), await createAndClaim(store)];
      const limits = [limit("day", { tokens: 150 })];
      await granted(store, gone.lease, { limits });
      const ask = () => store.reserve(other.lease, request({ limits }));
      expect(await ask()).toMatchObject({ kind: "wait", level: "day" });
      await store.releaseSession(gone.lease);
      expect(await ask()).toMatchObject({ kind: "exceeded", used: 100 });
      expect(await store.reports.calls(gone.id)).toMatchObject([{ status: "estimated" }]);
      await store.claimSession(gone.id, "start");
      expect(await store.reports.calls(gone.id)).toMatchObject([{ status: "estimated" }]);
      await expectTotalsAddUp(store, [gone.id, other.id]);
    });
  });

  describe("budgets", () => {
    test("are never passed by 64 calls that ask at the same moment", async () => {
      const { store, another } = await openFor(open);
      const stores = [store, (await another?.()) ?? store];
      const drivers = await Promise.all(stores.map(createAndClaim));
      const limits = [limit("day", { tokens: 32 * 100 }), limit("persona", { microUsd: 10 ** 6 })];
      const answers = await Promise.all(
        Array.from({ length: 64 }, (_, index) => {
          const side = index % 2;
          const { lease } = drivers[side] as (typeof drivers)[number];
          return (stores[side] as typeof store).reserve(lease, request({ limits }));
        }),
      );
      expect(answers.filter(({ kind }) => kind === "granted")).toHaveLength(32);
      expect(answers.filter(({ kind }) => kind === "wait")).toHaveLength(32);
      const [first] = drivers;
      expect((await totalsAt(store, first?.id as never, "day")).reserved).toEqual(amount(3_200));
      await expectTotalsAddUp(
        store,
        drivers.map(({ id }) => id),
      );
    });

    test("hold and sums agree with the rows whatever happens in whatever order", async () => {
      const { store } = await openFor(open);
      const seed = newSeed();
      const random = seededRandom(seed);
      const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
      const sessions = [await createAndClaim(store), await createAndClaim(store)];
      const limits = [
        limit("persona", { tokens: 2_500 }),
        limit("phase", { tokens: 6_000, microUsd: 11_000 }),
        limit("session", { tokens: 8_000 }),
        limit("day", { microUsd: 24_000 }),
      ];
      let openCalls: { session: number; reservation: ReservationId; asked: number }[] = [];
      for (let turn = 0; turn < 40; turn += 1) {
        const acts = Array.from({ length: 8 }, async () => {
          const session = Math.floor(random() * 2);
          const { lease } = sessions[session] as (typeof sessions)[number];
          if (random() < 0.5) {
            const asked = Math.floor(random() * 400);
            const over = { phase: pick(["a", "b"]), persona: pick(["x", "y", "z"]), model: pick(["m", "n"]) };
            const answer = await store.reserve(lease, request({ ...over, asked: amount(asked), limits }));
            if (answer.kind === "granted")
              openCalls.push({ session, reservation: answer.reservation, asked });
            return;
          }
          const mine = openCalls.find((open) => open.session === session);
          if (mine === undefined) return;
          openCalls = openCalls.filter((open) => open !== mine);
          const spent = pick([
            took(Math.floor(random() * (mine.asked + 1))),
            took(mine.asked, { costMicroUsd: null }),
            { usage: null, costMicroUsd: null },
          ]);
          if (random() < 0.2) await store.withdraw(lease, mine.reservation);
          else await settle(store, lease, mine.reservation, spent, random() < 0.3);
        });
        await Promise.all(acts);
        if (turn % 10 === 9) {
          const crashed = Math.floor(random() * 2);
          const { id, lease } = sessions[crashed] as (typeof sessions)[number];
          await store.releaseSession(lease);
          sessions[crashed] = { id, lease: (await store.claimSession(id, "start")).lease };
          openCalls = openCalls.filter(({ session }) => session !== crashed);
        }
        for (const { level, budget } of limits) {
          for (const { id } of sessions) {
            const totals = (await store.reports.totals(id)).filter((of) => of.level === level);
            for (const { used, reserved } of totals) {
              const passed =
                used.tokens + reserved.tokens > (budget.tokens ?? Infinity) ||
                (used.microUsd ?? 0) + (reserved.microUsd ?? 0) > (budget.microUsd ?? Infinity);
              expect(passed, `seed ${seed}: the ${level} passes its limit`).toBe(false);
            }
          }
        }
      }
      await expectTotalsAddUp(
        store,
        sessions.map(({ id }) => id),
      );
    });
  });

  test("sums of thousands of calls equal the rows", async () => {
    const { store } = await openFor(open);
    const { id, lease } = await createAndClaim(store);
    const reservations = await Promise.all(
      Array.from({ length: 2_500 }, () => granted(store, lease, { asked: amount(3) })),
    );
    await Promise.all(reservations.map((reservation) => settle(store, lease, reservation, took(2))));
    const calls = await allCalls(store, id);
    expect(calls).toHaveLength(2_500);
    expect(addUp(calls)).toEqual({ used: amount(5_000), reserved: amount(0) });
    await expectTotalsAddUp(store, [id]);
  });
}
