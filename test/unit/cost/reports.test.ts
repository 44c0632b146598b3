import { describe, expect, onTestFinished, test } from "vitest";
import { toCsv, usageCsv } from "../../../src/cost/csv.ts";
import { deletedSessions, usageReport } from "../../../src/cost/reports.ts";
import { ManualClock } from "../../../src/domain/manual-clock.ts";
import { SqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import { amount, call, granted, settle, took } from "../../contract/ledger-support.ts";
import { createAndClaim } from "../../contract/store-under-test.ts";

async function openStore() {
  const store = new SqliteStore({ path: ":memory:", clock: new ManualClock(), leaseMs: 15_000 });
  onTestFinished(() => store.close());
  return { store, ...(await createAndClaim(store)) };
}

describe("the usage report", () => {
  test("shows tokens, dollars, failures, estimates and savings, each in its own place", async () => {
    const { store, lease } = await openStore();
    const usage = {
      inputTokens: 1_000,
      cachedInputTokens: 800,
      cacheWriteTokens: 50,
      outputTokens: 200,
      reasoningTokens: 90,
    };
    const step = await call(store, lease, { usage, costMicroUsd: 1_500_000, cacheSavedMicroUsd: 250_000 });
    await settle(store, lease, await granted(store, lease), took(30), true);
    await settle(store, lease, await granted(store, lease), { usage: null, costMicroUsd: null });
    const patch = { phase: "design", persona: "architect", model: "m", tokens: 7_000, microUsd: 70_000 };
    await store.append(lease, [], {
      savings: [
        { kind: "patch", ...patch },
        { kind: "resume", steps: [step] },
      ],
    });
    const { total, rows } = await usageReport(store, { by: "persona" });
    expect(total).toEqual({
      inputTokens: 1_020,
      cachedInputTokens: 800,
      cacheWriteTokens: 50,
      outputTokens: 210,
      reasoningTokens: 90,
      calls: 3,
      failedCalls: 1,
      costUsd: 1.50006,
      knownCostUsd: 1.50006,
      unpricedCalls: 0,
      unreportedCalls: 1,
      simulatedCalls: 0,
      simulatedUsd: 0,
      simulatedUnreportedCalls: 0,
      simulatedEstimatedTokens: 0,
      simulatedEstimatedUsd: 0,
      estimatedTokens: 100,
      estimatedUsd: 0.0002,
      reservedUsd: 0,
      // An edit was never owed, and the provider's cache makes no call less.
      savedTokens: 1_200,
      savedUsd: 1.5,
      cacheDiscountUsd: 0.25,
      saved: {
        resume: { tokens: 1_200, usd: 1.5 },
        reuse: { tokens: 0, usd: 0 },
        cache: { tokens: 800, usd: 0.25 },
        patch: { tokens: 7_000, usd: 0.07 },
      },
      prices: [],
    });
    expect(rows).toEqual([{ name: "architect", ...total }]);
  });

  test("has what open calls reserve, also of a group whose first call is open", async () => {
    const { store, lease } = await openStore();
    await call(store, lease, took(10));
    await granted(store, lease, { asked: amount(10, 40), model: "new" });
    await granted(store, lease, { asked: amount(10, null), model: "llama" });
    const { total, rows } = await usageReport(store, { by: "model" });
    expect(total).toMatchObject({ calls: 1, costUsd: 0.00002, reservedUsd: 0.00004 });
    expect(rows.map(({ name, calls, reservedUsd }) => [name, calls, reservedUsd])).toEqual([
      ["anthropic/claude", 1, 0],
      ["llama", 0, 0],
      ["new", 0, 0.00004],
    ]);
  });

  test("says that a cost is not known rather than too small", async () => {
    const { store, lease } = await openStore();
    await call(store, lease, took(10));
    await call(store, lease, took(10, { costMicroUsd: null }), { asked: amount(10, null), model: "llama" });
    const saved = {
      kind: "reuse",
      phase: "p",
      persona: "a",
      model: "llama",
      tokens: 5,
      microUsd: null,
    } as const;
    await store.append(lease, [], { savings: [saved] });
    const { total, rows } = await usageReport(store, { by: "model" });
    expect(total).toMatchObject({ costUsd: null, knownCostUsd: 0.00002, unpricedCalls: 1, savedUsd: null });
    expect(rows.map(({ name, costUsd, savedUsd }) => [name, costUsd, savedUsd])).toEqual([
      ["anthropic/claude", 0.00002, 0],
      ["llama", null, null],
    ]);
  });

  test("names deleted sessions as what they are", async () => {
    const { store, id, lease } = await openStore();
    await call(store, lease, took(10));
    await store.releaseSession(lease);
    await store.deleteSession(id);
    const { rows } = await usageReport(store, { by: "session" });
    expect(rows.map(({ name, calls }) => [name, calls])).toEqual([[deletedSessions, 1]]);
  });
});

describe("CSV", () => {
  test("quotes what needs it and ends lines as RFC 4180 says", () => {
    expect(
      toCsv(
        ["a", "b"],
        [
          ["x,y", 'say "hi"'],
          ["two\nlines", null],
          ["", 1.5],
        ],
      ),
    ).toBe('a,b\r\n"x,y","say ""hi"""\r\n"two\nlines",\r\n,1.5\r\n');
  });

  test.each([
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "  =1",
    "＝1",
    '=HYPERLINK("http://x")',
    "|calc",
  ])("disarms %j, which a spreadsheet would run", (text) => {
    const [, line = ""] = toCsv(["a"], [[text]]).split(/(?<=^a\r\n)/);
    expect(line.replace(/^"/, "")[0]).toBe("'");
  });

  test("leaves numbers and harmless texts as they are", () => {
    expect(toCsv(["a"], [[-5], ["anthropic/claude-sonnet-4-5"], ["2026-01-01"], [0.000001]])).toBe(
      "a\r\n-5\r\nanthropic/claude-sonnet-4-5\r\n2026-01-01\r\n0.000001\r\n",
    );
  });

  test("of a report has a line for each row with the versions of its prices, and the unknown is empty", async () => {
    const { store, lease } = await openStore();
    await call(store, lease, took(9, { costMicroUsd: null }), { asked: amount(10, null), model: "=cmd" });
    await call(store, lease, took(6), { prices: "config:1", model: "priced" });
    await call(store, lease, took(3), { prices: "update:2", model: "priced" });
    const lines = usageCsv(await usageReport(store, { by: "model" })).split("\r\n");
    expect(lines).toEqual([
      "model,calls,failedCalls,inputTokens,cachedInputTokens,cacheWriteTokens,outputTokens,reasoningTokens,costUsd,knownCostUsd,unpricedCalls,unreportedCalls,simulatedCalls,simulatedUsd,estimatedTokens,estimatedUsd,reservedUsd,savedTokens,savedUsd,cacheDiscountUsd,prices",
      "'=cmd,1,0,6,0,0,3,0,,0,1,0,0,0,0,0,0,0,0,0,",
      "priced,2,0,6,0,0,3,0,0.000018,0.000018,0,0,0,0,0,0,0,0,0,0,config:1 update:2",
      "",
    ]);
  });
});
