import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { writeManySessions } from "../e2e/server/support/many-sessions.ts";
import { newFolder } from "../e2e/server/support/server.ts";

const entry = join(import.meta.dirname, "../../bin/maestro.cjs");
const tries = 15;
/** What Node.js alone takes on the machine that the targets are for; on a busy one it is late as well. */
const nodeMs = 50;

function timed(args: readonly string[], expected: RegExp): number {
  const startedMs = performance.now();
  const { status, stdout } = spawnSync(process.execPath, args, { encoding: "utf8" });
  const tookMs = performance.now() - startedMs;
  expect(status).toBe(0);
  expect(stdout).toMatch(expected);
  return tookMs;
}

/** The quickest of some tries, each beside Node.js alone: what the command takes when nobody else wants the machine. */
function quickestMs(args: readonly string[], expected: RegExp): number {
  const took = Array.from({ length: tries }, () => {
    const slowness = Math.max(1, timed(["-e", "0"], /^$/) / nodeMs);
    return timed([entry, ...args], expected) / slowness;
  });
  return Math.min(...took);
}

test("maestro --version is there in under 100 ms", () => {
  expect(quickestMs(["--version"], /^\d+\.\d+\.\d+\n$/)).toBeLessThan(100);
});

test("maestro sessions is there in under 200 ms with 10,000 sessions", { timeout: 120_000 }, async () => {
  const stateDir = join(newFolder(), "state");
  mkdirSync(stateDir, { mode: 0o700 });
  await writeManySessions(stateDir, 10_000);
  expect(quickestMs(["sessions", "--state-dir", stateDir], /order-\d+/)).toBeLessThan(200);
});
