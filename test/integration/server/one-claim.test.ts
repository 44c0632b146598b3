import { expect, test, vi } from "vitest";
import { SqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import { start, startServer, until } from "./support.ts";

/** How often a journal is read from its first row; later reads only continue. */
function countWholeReads(): () => number {
  const reads = vi.spyOn(SqliteStore.prototype, "readJournal");
  return () => reads.mock.calls.filter(([, after = 0]) => after === 0).length;
}

test.each([
  ["alone", {}],
  ["with a budget", { budget: { usd: 5, tokens: 100_000 } }],
  ["with a direction", { pauseAfter: ["second"], until: "second" }],
  ["with a key, a budget and a direction", { key: "k", budget: { usd: 5 }, pauseAfter: ["second"] }],
])(
  "a start %s claims its session once, and reads its journal once to answer and once to drive",
  async (_, body) => {
    const server = await startServer();
    const wholeReads = countWholeReads();
    const started = await start(server, { team: "quick", brief: "b", ...body });
    // Each claim begins another epoch.
    expect([started.epoch, wholeReads()]).toEqual([0, 1]);
    server.drive();
    const view = await until(server, started.id, "pauseAfter" in body ? "parked" : "completed");
    expect([view.epoch, wholeReads()]).toEqual([1, 2]);
    expect(view.limitUsd).toBe("budget" in body ? 5 : null);
  },
);
