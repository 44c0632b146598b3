import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";

const program = join(import.meta.dirname, "programs/stray.ts");

interface Ended {
  readonly innocent: string;
  readonly guilty: string;
  readonly attempts: readonly { readonly status: string; readonly failure: object }[];
  readonly calls: number;
  readonly logged: readonly string[];
}

/** Its own process: the test runner handles stray errors itself. */
function run(...args: readonly string[]): { code: number | null; stderr: string; ended: Ended | undefined } {
  const folder = mkdtempSync(join(tmpdir(), "maestro-stray-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, join(folder, "state"), ...args], {
    encoding: "utf8",
  });
  return { code: status, stderr, ended: stdout === "" ? undefined : (JSON.parse(stdout) as Ended) };
}

describe("a program that claims stray errors", () => {
  test.each([
    ["rejection", { category: "UNKNOWN", code: "STRAY_ERROR" }, "left behind"],
    ["timer", { category: "SYNTAX" }, "JSON"],
    ["emitter", { category: "UNKNOWN", code: "STRAY_ERROR" }, "left behind"],
  ])("fails only the attempt whose code left the error: a %s", (kind, failure, message) => {
    const { code, ended } = run(kind, "claims");
    expect(code).toBe(0);
    expect(ended).toMatchObject({ innocent: "completed", calls: 1, guilty: "parked" });
    expect(ended?.attempts).toMatchObject([{ status: "failed", failure }]);
    const said = JSON.stringify(ended?.attempts);
    expect(said).toContain('Persona \\"worker\\" left an error that nothing handled: ');
    expect(said).toContain(message);
  });

  test("reports an error that comes after the work has ended, and keeps the result", () => {
    const { code, ended } = run("late", "claims");
    expect(code).toBe(0);
    expect(ended).toMatchObject({ innocent: "completed", calls: 1, guilty: "completed" });
    expect(ended?.logged).toEqual(['Persona "worker" left an error that nothing handled: left behind']);
  });
});

test("open() installs no process-wide handlers, so Node ends a program that installs none", () => {
  const { code, ended, stderr } = run("rejection", "");
  expect({ code, ended }).toEqual({ code: 1, ended: undefined });
  expect(stderr).toContain("left behind");
});
