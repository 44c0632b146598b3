import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, onTestFinished, test } from "vitest";
import { ManualClock } from "../../src/domain/manual-clock.ts";
import { defineTeam, open, persona, phase } from "../../src/index.ts";
import { restAfterMs } from "../../src/run/rest.ts";

const sleeping = 10_000;
const places = 500;
const together = 250;
const mostBytes = 150_000_000;

test("10,000 sleeping sessions hold no place and no driver, and a new session is driven at once", {
  timeout: 600_000,
}, async () => {
  const stateDir = mkdtempSync(join(tmpdir(), "maestro-sleeping-"));
  onTestFinished(() => rmSync(stateDir, { recursive: true, force: true }));
  const done = { summary: "done" };
  const team = (name: string, sleepMs: number) =>
    defineTeam(name, {
      phases: [
        phase("work", {
          personas: [
            persona("worker", {
              run: async ({ sleep }) => {
                if (sleepMs > 0) await sleep(sleepMs);
                return done;
              },
            }),
          ],
        }),
      ],
    });
  const [sleeper, quick] = [team("sleeper", 3_600_000), team("quick", 0)];
  const clock = new ManualClock();
  const maestro = await open({ stateDir, clock, teams: [sleeper, quick] });
  onTestFinished(() => maestro.close());
  for (let number = 0; number < sleeping; number += together)
    await Promise.all(Array.from({ length: together }, () => maestro.queue(sleeper, { brief: "b" })));
  const scheduler = maestro.scheduler({ places, report: expect.unreachable });
  onTestFinished(() => scheduler.stop());
  const before = heapBytes();
  await scheduler.start();
  const database = new DatabaseSync(join(stateDir, "maestro.db"), { readOnly: true });
  onTestFinished(() => database.close());
  const counted = database.prepare(
    "SELECT count(*) AS count FROM sessions WHERE status = 'running' AND wake_at IS NOT NULL",
  );
  const resting = () => Number(counted.get()?.["count"]);
  while (resting() < sleeping || scheduler.inUse > 0) {
    await clock.advance(restAfterMs);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  expect(clock.pending(), "no timer for each").toBeLessThan(10);
  expect(heapBytes() - before, "memory beside the rows").toBeLessThan(mostBytes);
  expect((await maestro.abandoned()).size).toBe(0);
  const beganMs = performance.now();
  const session = await maestro.start(quick, { brief: "now" });
  expect((await session.result()).status).toBe("completed");
  const { id } = await maestro.queue(quick, { brief: "soon" });
  while ((await maestro.find(id)).status !== "completed")
    await new Promise((resolve) => setTimeout(resolve, 5));
  expect(performance.now() - beganMs).toBeLessThan(5_000);
});

/** Live memory: without a collection the garbage of ten thousand sessions would count. */
function heapBytes(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed;
}
