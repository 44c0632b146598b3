import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { defineTeam, persona, phase } from "../../../src/index.ts";
import { describeSandbox } from "../../../src/workspace/sandbox.ts";
import { TeamPlace } from "./place.ts";

const agent = (script: string) =>
  defineTeam("agents", {
    phases: [
      phase("work", {
        personas: [persona("agent", { instructions: "Do it.", command: ["node", "-e", script] })],
      }),
    ],
  });

const sandbox = await describeSandbox();

it.skipIf(sandbox.kind === "none")("an agent in bubblewrap writes nowhere but in its own files", async () => {
  const outside = mkdtempSync(join(tmpdir(), "maestro-outside-"));
  onTestFinished(() => rmSync(outside, { recursive: true }));
  writeFileSync(join(outside, "a.txt"), "mine");
  const place = new TeamPlace();
  const maestro = await place.open();
  const targets = [join(outside, "a.txt"), join(place.stateDir, "maestro.db"), "/etc/maestro-was-here"];
  const script = `
    for (const path of ${JSON.stringify(targets)}) {
      try { require("fs").writeFileSync(path, "overwritten"); } catch {}
    }
    require("fs").writeFileSync("own.txt", "own");`;
  const session = await maestro.start(agent(script), { brief: "x" });
  expect(await session.result()).toMatchObject({ status: "completed" });
  expect(readFileSync(join(outside, "a.txt"), "utf8")).toBe("mine");
  expect(existsSync("/etc/maestro-was-here")).toBe(false);
  const { artifacts } = await maestro.show(session.id);
  expect(artifacts.map(({ path }) => path)).toEqual(["own.txt"]);
});

/** Of every process of the machine, as far as it can be seen. */
function isRunning(word: string): boolean {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .some((pid) => {
      try {
        return readFileSync(join("/proc", pid, "cmdline"), "utf8")
          .split("\0")
          .includes(word);
      } catch {
        return false;
      }
    });
}

it("a cancel ends an agent and every process it started", async () => {
  const mark = `maestro-child-${process.pid}-${Date.now()}`;
  const place = new TeamPlace();
  const maestro = await place.open();
  const child = `process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)`;
  const script = `
    require("child_process").spawn("node", ["-e", ${JSON.stringify(child)}, ${JSON.stringify(mark)}], { stdio: "ignore" });
    process.on("SIGTERM", () => {});
    setInterval(() => {}, 1000);`;
  const session = await maestro.start(agent(script), { brief: "x" });
  await expect.poll(() => isRunning(mark), { timeout: 60_000 }).toBe(true);
  await maestro.cancel(session.id);
  expect(await session.result()).toMatchObject({ status: "canceled" });
  await expect.poll(() => isRunning(mark), { timeout: 60_000, interval: 20 }).toBe(false);
});
