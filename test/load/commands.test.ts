import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { writeManySessions } from "../e2e/server/support/many-sessions.ts";
import { newFolder } from "../e2e/server/support/server.ts";

const entry = join(import.meta.dirname, "../../bin/maestro.cjs");
const tries = 15;
/** Start-up of Node.js alone on the machine of the targets; a busy machine is slower by the same factor. */
const nodeMs = 50;

function timed(args: readonly string[], expected: RegExp): number {
  const startedMs = performance.now();
  const { status, stdout } = spawnSync(process.execPath, args, { encoding: "utf8" });
  const tookMs = performance.now() - startedMs;
  expect(status).toBe(0);
  expect(stdout).toMatch(expected);
  return tookMs;
}

/** The fastest of several runs, each scaled by Node.js alone: the time on an idle machine. */
function quickestMs(args: readonly string[], expected: RegExp): number {
  const took = Array.from({ length: tries }, () => {
    const slowness = Math.max(1, timed(["-e", "0"], /^$/) / nodeMs);
    return timed([entry, ...args], expected) / slowness;
  });
  return Math.min(...took);
}

test("maestro --version answers in under 100 ms", () => {
  expect(quickestMs(["--version"], /^\d+\.\d+\.\d+\n$/)).toBeLessThan(100);
});

test("maestro sessions answers in under 200 ms with 10,000 sessions", { timeout: 120_000 }, async () => {
  const stateDir = join(newFolder(), "state");
  mkdirSync(stateDir, { mode: 0o700 });
  await writeManySessions(stateDir, 10_000);
  expect(quickestMs(["sessions", "--state-dir", stateDir], /order-\d+/)).toBeLessThan(200);
});
