import { spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { readTests } from "../../../src/run/failure/read-tests.ts";
import { temporaryDirectory } from "../../unit/workspace/temporary-directory.ts";

const modules = resolve(import.meta.dirname, "../../../node_modules");

/** The tests that a real run of the command reports in a folder with these files. */
function countedIn(files: Readonly<Record<string, string>>, [program = "", ...args]: readonly string[]) {
  const folder = temporaryDirectory();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  symlinkSync(modules, join(folder, "node_modules"));
  const { NODE_TEST_CONTEXT: _, VITEST: __, ...env } = process.env;
  const run = spawnSync(program, args, {
    cwd: folder,
    encoding: "utf8",
    env: { ...env, CI: "true", NO_COLOR: "1" },
  });
  return readTests({ stdout: run.stdout, stderr: run.stderr, exitCode: run.status });
}

const nodeTests = (passes: boolean) => `import test from "node:test";
import assert from "node:assert/strict";
test("adds", () => assert.equal(1 + 1, ${passes ? 2 : 3}));
test("fine", () => {});
`;
const vitestTests = (passes: boolean) => `import { expect, test } from "vitest";
test("adds", () => expect(1 + 1).toBe(${passes ? 2 : 3}));
test("fine", () => {});
`;
const pytestTests = (passes: boolean) =>
  `def test_adds():\n    assert 1 + 1 == ${passes ? 2 : 3}\n\ndef test_fine():\n    pass\n`;

const python = "/usr/bin/python3";
const hasPytest = spawnSync(python, ["-m", "pytest", "--version"]).status === 0;
const pytest = [python, "-B", "-m", "pytest", "-p", "no:cacheprovider"];
const vitest = [process.execPath, join(modules, "vitest/vitest.mjs"), "run"];

describe.each([
  ["node:test", "a.test.mjs", nodeTests, [process.execPath, "--test"], true, true],
  [
    "node:test as TAP",
    "a.test.mjs",
    nodeTests,
    [process.execPath, "--test", "--test-reporter=tap"],
    true,
    true,
  ],
  ["vitest", "a.test.js", vitestTests, [...vitest, "--reporter=verbose"], true, true],
  ["pytest", "test_a.py", pytestTests, [...pytest, "-v"], true, hasPytest],
] as const)("a real run of %s", (_, file, content, command, isNamed, isThere) => {
  test.runIf(isThere)("reports the tests that pass and fail, by number and by name", () => {
    const green = countedIn({ [file]: content(true) }, command);
    const red = countedIn({ [file]: content(false) }, command);
    expect(green).toMatchObject({ passed: 2, failed: 0 });
    expect(red).toMatchObject({ passed: 1, failed: 1 });
    expect(green?.names !== undefined).toBe(isNamed);
    expect(red?.names?.passed).toMatchObject([expect.stringContaining("fine")]);
    expect(red?.names?.failed).toMatchObject([expect.stringContaining("adds")]);
  });

  test.runIf(isThere)("reports that nothing ran in a file without tests", () => {
    expect(
      countedIn({ [file]: file.endsWith("py") ? "# nothing\n" : "// nothing\n" }, command),
    ).toMatchObject({
      passed: 0,
      failed: 0,
    });
  });
});
