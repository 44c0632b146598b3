import { describe, expect, test } from "vitest";
import type { BudgetAlert } from "../../src/domain/budget-alert.ts";
import { newSessionId } from "../../src/domain/ids.ts";
import type { Lease } from "../../src/store/journal.ts";
import type { Store } from "../../src/store/store.ts";
import { allCalls, amount, call, granted, took, totalsAt } from "./ledger-support.ts";
import { statusRow } from "./status-row.ts";
import { createAndClaim, newSession, type OpenStore, openFor, step } from "./store-under-test.ts";

const oneDayMs = 24 * 3_600_000;

/** The amounts in the recorded rows. */
const raise = async (store: Store, lease: Lease, alerts: readonly BudgetAlert[]) =>
  (await store.append(lease, [], { alerts })).map(
    (row) => (JSON.parse(row.body) as { alert: unknown }).alert,
  );

export function usageContract(open: OpenStore): void {
  describe("usage", () => {
    test("is grouped as asked, and the total is that of all groups", async () => {
      const { store } = await openFor(open);
      const [one, other] = [await createAndClaim(store), await createAndClaim(store)];
      await call(store, one.lease, took(10));
      await call(store, one.lease, took(300), { persona: "skeptic", model: "simulated" });
      await call(store, other.lease, took(40), { phase: "build" });
      const tokensBy = async (
        by: "persona" | "phase" | "model" | "session" | "day",
        sessions?: readonly (typeof one.id)[],
      ) => {
        const { total, groups } = await store.reports.usage({ by, sessions });
        const rows = groups.map(({ name, inputTokens, outputTokens }) => [name, inputTokens + outputTokens]);
        return [total.inputTokens + total.outputTokens, rows];
      };
      expect(await tokensBy("persona")).toEqual([
        350,
        [
          ["skeptic", 300],
          ["architect", 50],
        ],
      ]);
      expect(await tokensBy("phase")).toEqual([
        350,
        [
          ["design", 310],
          ["build", 40],
        ],
      ]);
      expect(await tokensBy("model")).toEqual([
        350,
        [
          ["simulated", 300],
          ["anthropic/claude", 50],
        ],
      ]);
      expect(await tokensBy("session")).toEqual([
        350,
        [
          [one.id, 310],
          [other.id, 40],
        ],
      ]);
      expect(await tokensBy("day")).toEqual([350, [["2026-01-01", 350]]]);
      expect(await tokensBy("persona", [other.id])).toEqual([40, [["architect", 40]]]);
    });

    test("is reported for several sessions at once, for each persona in each phase, and for each attempt", async () => {
      const { store } = await openFor(open);
      const [one, other, idle] = [
        await createAndClaim(store),
        await createAndClaim(store),
        await createAndClaim(store),
      ];
      await call(store, one.lease, took(10));
      await call(store, one.lease, took(20), { phase: "build", started: 7 });
      await call(store, one.lease, took(30, { costMicroUsd: null }), {
        started: 7,
        asked: { tokens: 30, microUsd: null },
      });
      await call(store, other.lease, took(40));
      await granted(store, other.lease);
      const tokens = ({ inputTokens, outputTokens }: { inputTokens: number; outputTokens: number }) =>
        inputTokens + outputTokens;
      const { groups } = await store.reports.usage({ by: "session", sessions: [one.id, other.id, idle.id] });
      expect(new Map(groups.map((sums) => [sums.name, tokens(sums)]))).toEqual(
        new Map([
          [one.id, 60],
          [other.id, 40],
        ]),
      );
      const none = await store.reports.usage({ by: "session", sessions: [idle.id, newSessionId()] });
      expect([none.total.calls, none.groups]).toEqual([0, []]);
      expect((await store.reports.usage({ by: "session", sessions: [] })).total.calls).toBe(0);
      const { places, attempts } = await store.reports.usageInside(one.id);
      expect(new Map(places.map((sums) => [`${sums.phase} ${sums.persona}`, tokens(sums)]))).toEqual(
        new Map([
          ["build architect", 20],
          ["design architect", 40],
        ]),
      );
      expect(attempts).toEqual(
        new Map([
          [2, { tokens: 10, microUsd: 20 }],
          [7, { tokens: 50, microUsd: null }],
        ]),
      );
      expect(await store.reports.usageInside(idle.id)).toEqual({ places: [], attempts: new Map() });
    });

    test("keeps lost calls of the simulated model apart, since nothing bills them", async () => {
      const { store } = await openFor(open);
      const { lease } = await createAndClaim(store);
      const spent = { usage: null, costMicroUsd: null };
      for (const [model, asked] of [
        ["simulated", amount(5, 50)],
        ["anthropic/claude", amount(7, 70)],
      ] as const) {
        const reservation = await granted(store, lease, { asked, model });
        await store.append(lease, [], { settlement: { reservation, spent, failed: true } });
      }
      expect((await store.reports.usage({ by: "day" })).total).toMatchObject({
        unreportedCalls: 2,
        estimatedTokens: 12,
        estimatedMicroUsd: 120,
        simulatedUnreportedCalls: 1,
        simulatedEstimatedTokens: 5,
        simulatedEstimatedMicroUsd: 50,
      });
    });

    test("is reported day by day", async () => {
      const { store, clock } = await openFor(open);
      const { lease } = await createAndClaim(store);
      await call(store, lease, took(10));
      await clock.advance(oneDayMs);
      await call(store, lease, took(20), { persona: "skeptic" });
      await call(store, lease, took(30));
      // Perhaps billed, and no part of the total: no part of its days either.
      const reservation = await granted(store, lease, { asked: amount(5) });
      const spent = { usage: null, costMicroUsd: null };
      await store.append(lease, [], { settlement: { reservation, spent, failed: true } });
      expect((await store.reports.usage({ by: "day" })).total.estimatedTokens).toBe(5);
      expect(await store.reports.series({ by: "persona" })).toEqual([
        { day: "2026-01-01", name: "architect", tokens: 10, microUsd: 20 },
        { day: "2026-01-02", name: "skeptic", tokens: 20, microUsd: 40 },
        { day: "2026-01-02", name: "architect", tokens: 30, microUsd: 60 },
      ]);
      expect(await store.reports.series({ by: "model", since: clock.now() })).toHaveLength(1);
    });

    test("alerts of all sessions are listed, newest first", async () => {
      const { store, clock } = await openFor(open);
      const { id, lease } = await createAndClaim(store);
      const alert = { kind: "threshold", unit: "tokens", limit: 10, used: 8, expected: null } as const;
      await store.append(lease, [], { alerts: [{ ...alert, level: "session", name: id }] });
      await clock.advance(5);
      await store.append(lease, [], { alerts: [{ ...alert, level: "day", name: "2026-01-01" }] });
      const recent = await store.reports.recentAlerts(10);
      expect(recent.map(({ session, level }) => [session, level])).toEqual([
        [null, "day"],
        [id, "session"],
      ]);
      expect(await store.reports.recentAlerts(1)).toHaveLength(1);
    });

    test("can begin at a day", async () => {
      const { store, clock } = await openFor(open);
      const { lease } = await createAndClaim(store);
      await call(store, lease, took(10));
      await clock.advance(3 * oneDayMs);
      await call(store, lease, took(20));
      const since = async (at: number) => {
        const { total, groups } = await store.reports.usage({ by: "day", since: at });
        return [total.calls, groups.map(({ name }) => name)];
      };
      expect(await since(clock.now())).toEqual([1, ["2026-01-04"]]);
      expect(await since(clock.now() - 3 * oneDayMs)).toEqual([2, ["2026-01-01", "2026-01-04"]]);
      expect(await since(clock.now() + oneDayMs)).toEqual([0, []]);
    });

    test("has as many groups as were asked for, the largest first, and the total of all", async () => {
      const { store } = await openFor(open);
      for (const tokens of [10, 30, 20]) {
        const { lease } = await createAndClaim(store);
        await call(store, lease, took(tokens));
      }
      const { total, groups } = await store.reports.usage({ by: "session", most: 2 });
      expect(total.calls).toBe(3);
      expect(groups).toHaveLength(2);
      expect(groups[0]?.inputTokens).toBeGreaterThan(groups[1]?.inputTokens ?? Infinity);
      expect((await store.reports.usage({ by: "session", most: 10_000 })).groups).toHaveLength(3);
    });

    test("of no calls is empty", async () => {
      const { store } = await openFor(open);
      const { total, groups } = await store.reports.usage({ by: "persona" });
      expect(total).toMatchObject({ calls: 0, inputTokens: 0, costMicroUsd: 0, saved: [] });
      expect(groups).toEqual([]);
    });

    test("counts calls without a price apart from the dollars that are known", async () => {
      const { store } = await openFor(open);
      const { lease } = await createAndClaim(store);
      await call(store, lease, took(10));
      await call(store, lease, took(10, { costMicroUsd: null }), { asked: amount(100, null) });
      const { total } = await store.reports.usage({ by: "model" });
      expect(total).toMatchObject({ calls: 2, costMicroUsd: 20, unpricedCalls: 1 });
    });

    test("is the same before and after a session is deleted, except for its name", async () => {
      const { store, reopen } = await openFor(open);
      const [gone, kept] = [await createAndClaim(store), await createAndClaim(store)];
      for (const { lease } of [gone, kept]) {
        const saved = { kind: "patch", phase: "design", persona: "architect", model: "m" } as const;
        await call(store, lease, took(10));
        await call(store, lease, took(20), { persona: "skeptic" });
        await granted(store, lease, { asked: amount(5) });
        await store.append(lease, [], { savings: [{ ...saved, tokens: 7, microUsd: 3 }] });
        await store.append(lease, [], { alerts: [] });
      }
      await store.releaseSession(gone.lease);
      const { lease: again } = await store.claimSession(gone.id, "start");
      await granted(store, again, { asked: amount(6) });
      await store.releaseSession(again);
      const report = async (from = store) =>
        Promise.all((["persona", "phase", "model", "day"] as const).map((by) => from.reports.usage({ by })));
      const day = await totalsAt(store, kept.id, "day");
      const before = await report();
      await store.deleteSession(gone.id);
      await store.maintenance.reclaimSpace();
      const after = await report();
      // The open calls of the deleted session counted as made when it was let go.
      const estimated = ({ total }: (typeof before)[number]) => total.estimatedTokens;
      expect(before.map(estimated)).toEqual([11, 11, 11, 11]);
      expect(after.map(estimated)).toEqual(before.map(estimated));
      expect(after.map(({ total }) => [total.inputTokens, total.outputTokens, total.saved])).toEqual(
        before.map(({ total }) => [total.inputTokens, total.outputTokens, total.saved]),
      );
      expect(await totalsAt(store, kept.id, "day")).toEqual({
        used: amount(day.used.tokens),
        reserved: amount(5),
      });
      const { groups } = await store.reports.usage({ by: "session" });
      expect(new Map(groups.map(({ name, calls }) => [name, calls]))).toEqual(
        new Map([
          [null, 4],
          [kept.id, 2],
        ]),
      );
      const later = (await reopen?.()) ?? store;
      expect(await report(later)).toEqual(after);
    });

    test("of a session with more calls than a slice is deleted whole, and no other session loses a row", async () => {
      const { store } = await openFor(open);
      const [gone, kept] = [await createAndClaim(store), await createAndClaim(store)];
      await Promise.all(
        Array.from({ length: 2_300 }, (_, index) =>
          granted(store, index % 23 === 0 ? kept.lease : gone.lease, { asked: amount(1) }),
        ),
      );
      await store.releaseSession(gone.lease);
      await store.deleteSession(gone.id);
      expect(await allCalls(store, kept.id)).toHaveLength(100);
      expect((await totalsAt(store, kept.id, "day")).used).toEqual(amount(2_200));
      expect((await totalsAt(store, kept.id, "day")).reserved).toEqual(amount(100));
      await expect(store.reports.calls(gone.id)).rejects.toThrow("There is no session");
    });

    test("of past runs is that of the team's finished sessions, persona by persona", async () => {
      const { store } = await openFor(open);
      const run = async (team: string, tokens: number, status: "completed" | "failed") => {
        const { session } = await store.createSession(newSession({ team }));
        const { lease } = await store.claimSession(session.id, "start");
        await call(store, lease, took(tokens));
        await call(store, lease, took(tokens), { attempt: 2 });
        await store.append(lease, [statusRow(status)]);
        await store.releaseSession(lease);
      };
      await run("team", 10, "completed");
      await run("team", 30, "completed");
      await run("team", 900, "failed");
      await run("other", 700, "completed");
      const of = { phase: "design", persona: "architect", model: "anthropic/claude" };
      expect(await store.reports.history("team")).toEqual([
        { ...of, spent: amount(20) },
        { ...of, spent: amount(60) },
      ]);
      expect(await store.reports.history("nobody's")).toEqual([]);
      expect(await store.reports.history("team", undefined, 0), "nothing was completed so early").toEqual([]);
      expect(await store.reports.history("team", undefined, Date.now() + 1_000)).toHaveLength(2);
    });
  });

  describe("savings", () => {
    test("are added up by kind, and a session that only saved is in the report", async () => {
      const { store } = await openFor(open);
      const { id, lease } = await createAndClaim(store);
      const patch = { kind: "patch", phase: "build", persona: "coder", model: "m" } as const;
      await store.append(lease, [step(1)], { savings: [{ ...patch, tokens: 500, microUsd: 70 }] });
      await store.append(lease, [step(2)], {
        savings: [
          { ...patch, tokens: 50, microUsd: null },
          { ...patch, kind: "reuse", tokens: 9, microUsd: 1 },
        ],
      });
      const { total, groups } = await store.reports.usage({ by: "persona", sessions: [id] });
      const saved = [
        { kind: "patch", tokens: 550, microUsd: 70, unpriced: 1 },
        { kind: "reuse", tokens: 9, microUsd: 1, unpriced: 0 },
      ];
      expect(total).toMatchObject({ calls: 0, saved });
      expect(groups).toMatchObject([{ name: "coder", calls: 0, saved }]);
    });

    test("of a fork are reported persona by persona and model by model", async () => {
      const { store } = await openFor(open);
      const { id, lease } = await createAndClaim(store);
      const reuse = { kind: "reuse", phase: "build", persona: "coder", model: "m", tokens: 9 } as const;
      await store.append(lease, [step(1)], { savings: [{ ...reuse, microUsd: 1 }] });
      await store.append(lease, [step(2)], {
        savings: [
          { ...reuse, microUsd: 2 },
          { ...reuse, model: "n", microUsd: null },
          { ...reuse, kind: "cache", microUsd: 5 },
        ],
      });
      const of = { phase: "build", persona: "coder" };
      expect(await store.reports.reused(id)).toEqual([
        { ...of, model: "m", spent: { tokens: 18, microUsd: 3 } },
        { ...of, model: "n", spent: { tokens: 9, microUsd: null } },
      ]);
    });

    test("of replayed calls equal the cost of those calls", async () => {
      const { store } = await openFor(open);
      const { lease } = await createAndClaim(store);
      const first = await call(store, lease, took(10));
      const second = await call(store, lease, took(30), { persona: "skeptic" });
      await store.append(lease, [step(3)], { savings: [{ kind: "resume", steps: [first, second, 9_999] }] });
      await store.append(lease, [], { savings: [{ kind: "resume", steps: [second] }] });
      const { groups } = await store.reports.usage({ by: "persona" });
      expect(groups.map(({ name, saved }) => [name, saved])).toEqual([
        ["skeptic", [{ kind: "resume", tokens: 60, microUsd: 120, unpriced: 0 }]],
        ["architect", [{ kind: "resume", tokens: 10, microUsd: 20, unpriced: 0 }]],
      ]);
    });

    test("of the provider's cache come with the settlement, also when it cost more than it saved", async () => {
      const { store } = await openFor(open);
      const { lease } = await createAndClaim(store);
      const usage = {
        inputTokens: 100,
        cachedInputTokens: 80,
        cacheWriteTokens: 0,
        outputTokens: 5,
        reasoningTokens: 0,
      };
      await call(store, lease, { usage, costMicroUsd: 50, cacheSavedMicroUsd: 216 });
      const wrote = { ...usage, cachedInputTokens: 0, cacheWriteTokens: 80 };
      await call(store, lease, { usage: wrote, costMicroUsd: 90, cacheSavedMicroUsd: -16 });
      await call(store, lease, took(10));
      const { total } = await store.reports.usage({ by: "model" });
      expect(total.saved).toEqual([{ kind: "cache", tokens: 80, microUsd: 200, unpriced: 0 }]);
    });
  });

  describe("alerts", () => {
    test("are raised once for each budget, also after a restart; a raised budget is another one", async () => {
      const { store, reopen, clock } = await openFor(open);
      const { id, lease } = await createAndClaim(store);
      const alert = {
        kind: "threshold",
        level: "session",
        name: id,
        unit: "tokens",
        limit: 100,
        used: 80,
        expected: null,
      } as const;
      const forecast = { ...alert, kind: "forecast", expected: 130 } as const;
      expect(await raise(store, lease, [alert, forecast])).toEqual([alert, forecast]);
      expect(await raise(store, lease, [{ ...alert, used: 90 }, forecast])).toEqual([]);
      await store.releaseSession(lease);
      const later = (await reopen?.()) ?? store;
      const claim = await later.claimSession(id, "start");
      const raised = { ...alert, limit: 200, used: 161 };
      expect(await raise(later, claim.lease, [alert, raised])).toEqual([raised]);
      const at = clock.now();
      expect(await later.reports.alerts(id)).toEqual([
        { ...forecast, at },
        { ...alert, at },
        { ...raised, at },
      ]);
    });

    test("of a day are raised once over all sessions, those of a session for each", async () => {
      const { store } = await openFor(open);
      const [one, other] = [await createAndClaim(store), await createAndClaim(store)];
      const numbers = { kind: "threshold", unit: "usd", limit: 100, used: 80, expected: null } as const;
      const day = { ...numbers, level: "day", name: "2026-01-01" } as const;
      const persona = { ...numbers, level: "persona", name: "architect" } as const;
      expect(await raise(store, one.lease, [day, persona])).toEqual([day, persona]);
      expect(await raise(store, other.lease, [day, persona])).toEqual([persona]);
      expect((await store.reports.alerts(other.id)).map(({ level }) => level)).toEqual(["day", "persona"]);
    });
  });
}
