import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { inTerminal, json, place } from "./support/packed.ts";
import { checkpointsSchema, demoSchema, showSchema } from "./support/schemas.ts";

/** The model calls of the script, including the one that the network broke. */
const callsOfTheScript = 16;

test("demo: killed in the middle, resumed, finished; no model call was paid twice and the project works", async () => {
  const at = place();
  const startedAt = Date.now();
  const demo = demoSchema.parse(await json(at, "demo", "--out", join(at.folder, "demo")));
  expect(demo).toMatchObject({
    status: "completed",
    simulated: true,
    retried: 1,
    healed: 1,
    checkpoints: 6,
  });
  // The kill may meet a call that is under way. It counts, since it may be billed, and it is made again.
  expect([callsOfTheScript, callsOfTheScript + 1]).toContain(demo.calls);
  expect(Date.now() - startedAt).toBeLessThan(600_000);
  expect(demo.notPaidTwice.calls).toBeGreaterThanOrEqual(7);
  expect(demo.kept).toBeGreaterThan(demo.notPaidTwice.calls);
  expect(demo.steps).toBeGreaterThan(demo.kept);
  expect(readdirSync(demo.project).sort()).toEqual([
    ".maestro-out.json",
    "README.md",
    "docs",
    "package.json",
    "src",
    "test",
  ]);
  const tests = execFileSync(process.execPath, ["--test", "--test-reporter=tap"], {
    cwd: demo.project,
    encoding: "utf8",
    env: { PATH: process.env["PATH"] },
  });
  expect(tests).toContain("# pass 3");
  const state = ["--state-dir", demo.stateDir];
  const view = showSchema.parse(await json(at, "show", demo.key, ...state));
  expect(view.phases.map(({ gate }) => gate?.verdict)).toEqual(Array.from({ length: 5 }, () => "passed"));
  const checkpoints = checkpointsSchema.parse(await json(at, "checkpoints", demo.key, ...state));
  expect(checkpoints.every(({ valid }) => valid)).toBe(true);
});

test("demo in a terminal: one sees the tree, the kill, the second life and what to try next, and that all is simulated", async () => {
  const at = place();
  const { code, lines, seen, wrapped, cursorHidden } = await inTerminal(
    at,
    [90, 30],
    ["demo"],
    [{ when: "solution_architect · attempt 2" }, { when: "kill -9 \\d+" }, { when: "▶ testing" }],
  );
  const text = lines.join("\n");
  expect(code).toBe(0);
  expect(cursorHidden).toBe(false);
  expect(text).toContain("The model is simulated");
  expect(text).toMatch(/demo · simulated model · A URL shortener with tests/);
  expect(seen[0]?.join("\n")).toMatch(/✔ requirements requirement_analyst · gate 1\.00 of 0\.75/);
  expect(seen[1]?.join("\n")).toMatch(/▶ implementation[^]*▶ backend_developer[^]*○ testing/);
  expect(text).toMatch(/A new process resumes: maestro resume demo/);
  expect(text).toMatch(/completed · .* tokens · \$.* at invented prices · .* not paid again/);
  expect(text).toMatch(/not twice +[\d,]+ tokens, \$[\d.]+: the \d+ model calls before the kill/);
  expect(text).toMatch(/checkpoints +6 sealed and valid: of the start and of 5 phases/);
  expect(text.slice(text.indexOf("Try next:")).match(/maestro|node --test/g)?.length).toBeGreaterThanOrEqual(
    3,
  );
  // Only what is meant to be pasted may be longer than the terminal.
  expect(wrapped).toBeLessThanOrEqual(3);
});

test("Ctrl-C during the demo leaves the terminal as it was", async () => {
  const { code, cursorHidden } = await inTerminal(
    place(),
    [80, 24],
    ["demo"],
    [{ when: "▶ design", send: "\u0003" }],
  );
  expect({ code, cursorHidden }).toEqual({ code: 130, cursorHidden: false });
});
