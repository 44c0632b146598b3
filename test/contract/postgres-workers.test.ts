import { describe, expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/domain/clock.ts";
import { chainHash, chainStart } from "../../src/journal/journal-codec.ts";
import { PostgresStore } from "../../src/store/postgres/postgres-store.ts";
import { newSchema, postgres } from "../support/postgres.ts";
import { newSeed, seededRandom } from "../unit/domain/seeded-random.ts";
import { expectTotalsAddUp } from "./ledger-support.ts";
import { startOnPostgres, stepsOfWork } from "./postgres-child.ts";
import { newSession, readAll } from "./store-under-test.ts";

const leaseMs = 3_000;
const kills = 4;

describe.skipIf(postgres === null)("workers on one database", () => {
  test("that are killed at random moments finish every session, and no step is recorded twice or lost", async () => {
    const { address } = newSchema();
    const store = await PostgresStore.open({ address, clock: systemClock, leaseMs });
    onTestFinished(() => store.close());
    const random = seededRandom(newSeed());
    const ids = await Promise.all(
      Array.from({ length: 30 }, async () => {
        const { session } = await store.createSession({ ...newSession(), wakeAt: Date.now() });
        return session.id;
      }),
    );
    const start = () => {
      const worker = startOnPostgres("work", address, "", String(leaseMs));
      onTestFinished(() => void worker.process.kill("SIGKILL"));
      return worker;
    };
    const workers = [start(), start(), start()];
    const completed = async () => (await store.reports.count({}, Date.now())).byStatus.completed;
    const recorded = async () => (await store.reports.usage({ by: "day" })).total.calls;
    const ended: (typeof workers)[number][] = [];
    for (let kill = 0; kill < kills && (await completed()) < ids.length; kill += 1) {
      // Not before something new was recorded, so that each kill interrupts work.
      const before = await recorded();
      await expect.poll(recorded).toBeGreaterThan(before);
      const [victim] = workers.splice(Math.floor(random() * workers.length), 1);
      victim?.process.kill(random() < 0.75 ? "SIGKILL" : "SIGSTOP");
      if (victim !== undefined) ended.push(victim);
      workers.push(start());
    }
    await expect.poll(completed, { timeout: 240_000 }).toBe(ids.length);
    expect(ended.length).toBeGreaterThan(0);
    for (const { process } of [...ended, ...workers]) process.kill("SIGKILL");
    for (const worker of [...ended, ...workers]) expect(await worker.output()).toBe("");
    let takeovers = 0;
    for (const id of ids) {
      const rows = await readAll(store, id);
      let previous = chainStart(id);
      for (const row of rows) {
        previous = chainHash(previous, row);
        expect(row.hash).toBe(previous);
      }
      if ((rows.at(-1)?.epoch ?? 0) > 1) takeovers += 1;
      const epochs = rows.map(({ epoch }) => epoch);
      expect(epochs).toEqual(epochs.toSorted((one, other) => one - other));
      const steps = rows.filter(({ kind }) => kind === "step.function").map(({ name }) => name);
      expect(steps).toEqual(Array.from({ length: stepsOfWork }, (_, index) => `step ${index + 1}`));
      const calls = await store.reports.calls(id);
      expect(calls.filter(({ status }) => status === "settled")).toHaveLength(stepsOfWork);
      expect(calls.filter(({ status }) => status === "open")).toEqual([]);
    }
    expect(takeovers).toBeGreaterThan(0);
    await expectTotalsAddUp(store, ids);
  });
});
