import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import {
  BudgetExceeded,
  defineTeam,
  open,
  type PersonaFunction,
  persona,
  phase,
  SessionNotFound,
  type Team,
} from "../../../src/index.ts";
import { Lives } from "./lives.ts";

const teamOf = (run: PersonaFunction): Team =>
  defineTeam("team", { phases: [phase("work", { personas: [persona("worker", { run })] })] });

function stateDirectory(): string {
  const folder = mkdtempSync(join(tmpdir(), "maestro-ends-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test("a pause waits for every running step: each is recorded and none runs again", async () => {
  const lives = new Lives();
  const slow = Promise.withResolvers<void>();
  const work: PersonaFunction = async ({ step }) => {
    const chain = async () => {
      for (const index of [1, 2, 3]) {
        await step(`chain ${index}`, lives.effect(`chain ${index}`, index));
        if (index === 1 && lives.ran.length === 1) {
          lives.end();
          setImmediate(() => slow.resolve());
        }
      }
    };
    const slowly = step("slow", async () => {
      await slow.promise;
      return lives.effect("slow", 0)();
    });
    await Promise.all([slowly, chain()]);
    return { summary: "done" };
  };
  await lives.live(work);
  expect(await lives.live(work)).toMatchObject({ status: "completed" });
  expect(lives.ran.toSorted()).toEqual(["chain 1", "chain 2", "chain 3", "slow"]);
});

test("a failed step is retried without repeating the steps before it", async () => {
  const lives = new Lives();
  let tries = 0;
  const result = await lives.live(async ({ step }) => {
    await step("pay", lives.effect("pay", 1));
    await step("ship", () => {
      tries += 1;
      if (tries < 3) throw new Error("the van is late");
    });
    return { summary: "shipped" };
  });
  expect(result).toMatchObject({ status: "completed" });
  expect(lives.ran).toEqual(["pay"]);
});

test("work may throw any class of error, and it counts as a failure of the work", async () => {
  const lives = new Lives();
  const result = await lives.live(async ({ step }) => {
    await step("look", () => {
      throw new SessionNotFound("no such customer session");
    });
    return { summary: "found" };
  });
  expect(result).toMatchObject({ status: "parked", reason: "help" });
  expect(await lives.live(async () => ({ summary: "found after all" }))).toMatchObject({
    status: "completed",
  });
});

test("a used-up budget parks the session at once", async () => {
  const lives = new Lives();
  const result = await lives.live(() => {
    throw new BudgetExceeded("40,000 of 40,000 tokens are used.");
  });
  expect(result).toMatchObject({ status: "parked", reason: "budget" });
  expect(lives.rows("attempt.failed")).toHaveLength(1);
});

test("a result that JSON would silently empty is an error that names the step", async () => {
  const lives = new Lives();
  const result = await lives.live(async ({ step }) => {
    await step("collect", () => new Map([[1, 2]]));
    return { summary: "collected" };
  });
  expect(result).toMatchObject({
    status: "parked",
    error: { message: expect.stringContaining("Map") as string },
  });
});

test("closing twice, or right after a start, is clean and leaves the session to be resumed", async () => {
  const stateDir = stateDirectory();
  const team = teamOf(async ({ step }) => {
    for (let index = 0; index < 50; index += 1) await step(`step ${index}`, () => index);
    return { summary: "done" };
  });
  const first = await open({ stateDir, teams: [team] });
  const session = await first.start(team, { brief: "b", key: "k" });
  await Promise.all([first.close(), first.close()]);
  const second = await open({ stateDir, teams: [team] });
  expect(["running", "queued"]).toContain((await second.find(session.id)).status);
  expect(await (await second.resume("k")).result()).toMatchObject({ status: "completed" });
  await second.close();
});

test("a call after closing gets an error that says what to do", async () => {
  const team = teamOf(() => ({ summary: "done" }));
  const stateDir = stateDirectory();
  const maestro = await open({ stateDir, teams: [team] });
  const { id } = await maestro.start(team, { brief: "x" });
  await maestro.close();
  const closed = { code: "STATE_UNAVAILABLE", message: expect.stringContaining("was closed") };
  await expect(maestro.start(team, { brief: "y" })).rejects.toMatchObject(closed);
  await expect(maestro.show(id)).rejects.toMatchObject(closed);
  // And no session is left behind by it.
  const again = await open({ stateDir });
  expect((await again.sessions()).map((session) => session.id)).toEqual([id]);
  await again.close();
});

test("pausing a parked session is refused and keeps the reason for parking", async () => {
  const stateDir = stateDirectory();
  const team = teamOf(() => {
    throw new BudgetExceeded("used up");
  });
  const maestro = await open({ stateDir, teams: [team] });
  const session = await maestro.start(team, { brief: "b" });
  await session.result();
  await expect(maestro.pause(session.id)).rejects.toMatchObject({ code: "SESSION_CONFLICT" });
  expect(await maestro.show(session.id)).toMatchObject({ status: "parked", reason: "budget" });
  await maestro.close();
});
