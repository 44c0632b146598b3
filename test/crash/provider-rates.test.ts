import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { open } from "../../src/api/open.ts";
import { crowdReply, crowdUsage } from "../support/crowd.ts";
import { PaidModels } from "../support/paid-models.ts";
import { startCrowd } from "../support/run-crowd.ts";

const minuteMs = 60_000;
const requestsPerMinute = 8;
const members = 2;
const callsPerSession = 2 * members;

/** In real time: the provider counts the requests that arrive, whatever the processes believe. */
test("three processes, one of them killed, send a provider no request too many in any minute, and no call fails", async () => {
  const folder = mkdtempSync(join(tmpdir(), "maestro-rates-"));
  const models = await PaidModels.start(({ persona, answersBefore }) => crowdReply(persona, answersBefore), {
    usage: () => crowdUsage,
  });
  onTestFinished(async () => {
    await models.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const stateDir = join(folder, "state");
  const start = (key: string) =>
    startCrowd({
      stateDir,
      key,
      size: members,
      model: "anthropic/claude-sonnet-4-5",
      env: models.server.env,
      rates: { anthropic: { requestsPerMinute } },
    });
  const [first, second, victim] = [start("one"), start("two"), start("three")];
  victim.ended.catch(() => undefined);
  await vi.waitUntil(() => models.log.length >= requestsPerMinute - 1, { timeout: 60_000 });
  victim.child.kill("SIGKILL");
  const endings = await Promise.all([first.ended, second.ended, start("three").ended]);
  expect(endings.map(({ status }) => status)).toEqual(["completed", "completed", "completed"]);

  const arrivals = models.log.map(({ at }) => at);
  expect(arrivals.length).toBeGreaterThanOrEqual(3 * callsPerSession);
  for (const at of arrivals) {
    const minute = arrivals.filter((other) => other >= at && other < at + minuteMs);
    expect(minute.length).toBeLessThanOrEqual(requestsPerMinute);
  }
  const maestro = await open({ stateDir });
  onTestFinished(() => maestro.close());
  for (const { id } of await maestro.sessions()) {
    const { phases } = await maestro.show(id);
    const attempts = phases.flatMap(({ personas }) => personas.flatMap((persona) => persona.attempts));
    expect(attempts.filter(({ status }) => status === "failed")).toEqual([]);
  }
});
