import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect } from "vitest";
import type { ArmedFault } from "../../../src/store/fault-points.ts";
import type { SqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import { allCalls, expectTotalsAddUp } from "../../contract/ledger-support.ts";
import type { Place } from "./place.ts";
import type { Program } from "./program.ts";
import { openStore } from "./recorded.ts";
import type { Scenario } from "./scenarios.ts";
import type { SpendOptions } from "./spend.ts";
import type { TightOptions } from "./tight.ts";

/** The session that the harness reads. */
const key = "everyday";
const manyCalls = 1_200;
const [askedTokens, takenTokens] = [100, 30];
const lostAnswer: ArmedFault = { point: "call.settled:before-commit", hit: 1, act: "kill" };

function spend(place: Place, fault?: ArmedFault, over: Partial<SpendOptions> = {}): Program {
  const { stateDir, marksFile } = place;
  return place.run("spend.ts", {
    stateDir,
    marks: marksFile,
    key,
    act: "spend",
    askedTokens,
    takenTokens,
    fault,
    ...over,
  } satisfies SpendOptions);
}

async function finish(program: Program): Promise<void> {
  expect(await program.ended).toMatchObject({ code: 0, stderr: "" });
}

async function inStore<T>({ stateDir }: Place, look: (store: SqliteStore) => Promise<T>): Promise<T> {
  const store = openStore(stateDir);
  try {
    return await look(store);
  } finally {
    await store.close();
  }
}

/** Each of the two calls is settled once, every lost one estimated once; one alert, no open reservation, all sums right. */
async function expectPaidOnce(place: Place, estimated: number): Promise<void> {
  await inStore(place, async (store) => {
    const session = await store.findSession(key);
    if (session === undefined) throw new Error("the session is gone");
    const calls = await allCalls(store, session.id);
    const statuses = calls.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array<string>(estimated).fill("estimated"), "settled", "settled"]);
    expect(new Set(calls.filter(({ step }) => step !== null).map(({ step }) => step)).size).toBe(2);
    expect(await store.reports.alerts(session.id)).toHaveLength(1);
    await expectTotalsAddUp(store, [session.id]);
    const [total] = (await store.reports.totals(session.id)).filter(({ level }) => level === "session");
    expect(total?.used.tokens).toBe(2 * takenTokens + estimated * askedTokens);
  });
}

/** `estimated`: how many lost calls count as made; `made`: the calls that were sent. */
export const paid = ({
  hit = 1,
  estimated,
  made,
}: {
  hit?: number;
  estimated: number;
  made: readonly string[];
}): Scenario => ({
  team: "everyday",
  hits: [hit],
  before: async () => {},
  victim: (place, fault) => spend(place, fault),
  recover: async (place) => {
    await finish(spend(place));
    await expectPaidOnce(place, estimated);
    expect(place.marks).toEqual(made);
  },
});

/** The process that takes over is killed as well. */
export const claimedWithOpenCall: Scenario = {
  ...paid({ estimated: 1, made: ["call 1", "call 1", "call 2"] }),
  before: async (place) => void (await spend(place, lostAnswer).ended),
};

/** Another session meets the reservation of a dead driver in the day's budget, and is killed while estimating it. */
export const abandoned: Scenario = {
  ...paid({ estimated: 1, made: ["call 1", "call 1", "call 2"] }),
  before: async (place) => void (await spend(place, lostAnswer).ended),
  victim: (place, fault) => spend(place, fault, { key: "another", act: "ask over the day" }),
  recover: async (place, { isCommitted }) => {
    await inStore(place, async (store) => {
      const dead = await store.findSession(key);
      const statuses = dead && (await allCalls(store, dead.id)).map(({ status }) => status);
      expect(statuses).toEqual([isCommitted ? "estimated" : "open"]);
    });
    await finish(spend(place, undefined, { key: "another", act: "ask over the day" }));
    await finish(spend(place));
    await expectPaidOnce(place, 1);
  },
};

/** The answer of a call is cut where the budget ends; the call is made again, once, when a person has raised it. */
export const cutShort: Scenario = {
  team: "everyday",
  hits: [1],
  before: async () => {},
  victim: (place, fault) => tight(place, fault),
  recover: async (place, { isCommitted }) => {
    const { code, stdout, stderr } = await tight(place).ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(JSON.parse(stdout)).toEqual({ status: "completed", attempts: [1] });
    expect(place.marks).toEqual(["call cut", "call whole"]);
    await inStore(place, async (store) => {
      const session = await store.findSession(key);
      const calls = session === undefined ? [] : await allCalls(store, session.id);
      expect(calls.map(({ status }) => status)).toEqual([isCommitted ? "failed" : "estimated", "settled"]);
    });
  },
};

function tight(place: Place, fault?: ArmedFault): Program {
  const { stateDir, marksFile: marks } = place;
  return place.run("tight.ts", { stateDir, marks, key, fault } satisfies TightOptions);
}

/** More calls than one transaction of a deletion removes. */
export const deletedWithCalls = (...hits: number[]): Scenario => ({
  team: "everyday",
  hits,
  before: async (place) => finish(spend(place, undefined, { calls: manyCalls })),
  victim: (place, fault) => spend(place, fault, { act: "delete" }),
  recover: async (place) => {
    const expectSpent = () =>
      inStore(place, async (store) => {
        for (const by of ["day", "model", "persona"] as const) {
          const { total } = await store.reports.usage({ by });
          expect([total.calls, total.inputTokens + total.outputTokens]).toEqual([
            manyCalls,
            manyCalls * takenTokens,
          ]);
        }
      });
    await expectSpent();
    await finish(spend(place, undefined, { act: "delete" }));
    await expectSpent();
    const database = new DatabaseSync(join(place.stateDir, "maestro.db"), { readOnly: true });
    const rows = database.prepare("SELECT count(*) AS rows FROM ledger").get()?.["rows"];
    database.close();
    expect(rows, "nothing is left behind").toBe(0);
  },
});
