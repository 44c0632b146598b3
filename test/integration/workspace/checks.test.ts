import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Check, type CheckResult, type Contract, emptyContract } from "../../../src/domain/contract.ts";
import { createFailure } from "../../../src/domain/failure.ts";
import type { Json } from "../../../src/domain/json.ts";
import { readOutput } from "../../../src/run/failure/read-output.ts";
import { type ChecksOptions, declaredChecks, runCheck, runChecks } from "../../../src/workspace/checks.ts";
import { describeSandbox } from "../../../src/workspace/sandbox.ts";
import { MemoryBlobs } from "../../unit/workspace/counted-blobs.ts";
import { temporaryDirectory } from "../../unit/workspace/temporary-directory.ts";

const blobs = new MemoryBlobs();

function options(
  files: Record<string, string>,
  contract: Partial<Contract>,
  more: Partial<ChecksOptions> = {},
): ChecksOptions {
  return {
    contract: { ...emptyContract, ...contract },
    tree: blobs.tree(files),
    outputs: undefined,
    blobs,
    scratch: join(temporaryDirectory(), "scratch"),
    signal: new AbortController().signal,
    ...more,
  };
}

const command = (name: string, ...run: string[]): Check => ({ name, run, must: true, weight: 1 });
const summary = (results: readonly CheckResult[]): [string, string, string][] =>
  results.map(({ name, status, message }) => [name, status, message]);

describe("deliverables", () => {
  const judge = async (files: Record<string, string>, ...globs: string[]): Promise<CheckResult> => {
    const deliverables = [{ name: "docs", files: globs, must: false, weight: 3 }];
    const [result] = await runChecks(options(files, { deliverables }));
    if (result === undefined) throw new Error("no result");
    return result;
  };

  test.each([
    ["docs/a.md", "docs/*.md"],
    ["docs/deep/er/a.md", "docs/**/*.md"],
    [".github/ci.yml", "**/*.yml"],
    ["app/[id]/page.tsx", "app/[id]/page.tsx"],
    ["src/a.ts", "./src/*.{js,ts}"],
  ])("%s is matched by %s", async (path, glob) => {
    expect(await judge({ [path]: "x" }, glob)).toEqual({
      kind: "deliverable",
      name: "docs",
      status: "passed",
      must: false,
      weight: 3,
      message: "All files are there.",
      failures: [],
    });
  });

  test("a glob is no substring, and each of them needs a file", async () => {
    const result = await judge({ "docs/a.md": "x", "old/docs/a.md.bak": "x" }, "docs/*.md", "a.md", "*.txt");
    expect([result.status, result.message]).toEqual(["failed", "no file matches a.md (and 1 more)"]);
    expect(result.failures.map(({ category, message }) => [category, message])).toEqual([
      ["CONTRACT", "The deliverable docs is missing: no file matches a.md"],
      ["CONTRACT", "The deliverable docs is missing: no file matches *.txt"],
    ]);
  });

  test("an excluded file does not count as delivered", async () => {
    const globs = ["src/**", "!src/db/**"];
    expect(await judge({ "src/db/a.sql": "x" }, ...globs)).toMatchObject({
      status: "failed",
      message: "no file matches src/**",
    });
    expect(await judge({ "src/a.ts": "x" }, ...globs)).toMatchObject({ status: "passed" });
  });

  test("an empty file is no deliverable", async () => {
    expect(await judge({ "a.md": "" }, "*.md")).toMatchObject({ status: "failed", message: "a.md is empty" });
    expect(await judge({ "a.md": "", "b.md": "x" }, "*.md")).toMatchObject({ status: "passed" });
  });

  test("one that names no files was not judged", async () => {
    expect(await judge({ a: "a" })).toMatchObject({ status: "not-run" });
  });
});

describe("the schema of the outputs", () => {
  const schema = { type: "object", required: ["count"], properties: { count: { type: "integer" } } } as const;
  const judge = (outputs: Json | undefined, of: Record<string, Json> = schema) =>
    runChecks(options({}, { outputs: of }, { outputs })).then((results) => summary(results));

  test("says what fits, what does not and what is missing", async () => {
    expect(await judge({ count: 1 })).toEqual([["outputs", "passed", "The outputs fit the schema."]]);
    expect(await judge({ count: "1" })).toEqual([
      ["outputs", "failed", "/count must be an integer, but is a string"],
    ]);
    expect(await judge(undefined)).toEqual([["outputs", "failed", "no outputs were given"]]);
    expect(await judge({}, { typo: 1 })).toEqual([
      ["outputs", "not-run", expect.stringContaining("The schema is wrong: /typo")],
    ]);
  });
});

const sandbox = await describeSandbox();
const ways = [
  ["in a sandbox", sandbox],
  ["without a sandbox", { kind: "none", reason: "for this test", lacks: "program" }],
] as const;

describe.each(ways)("commands %s", (_, way) => {
  const isSkipped = way === sandbox && sandbox.kind === "none";
  const launch = { sandbox: way.kind === "none" ? "none" : "required" } as const;

  test.skipIf(isSkipped)(
    "pass with 0, fail with anything else, and are not run when there is no such program",
    async () => {
      const checks = [
        command("title", "grep", "-q", "^# ", "a.md"),
        command("missing", "grep", "-q", "nothing", "a.md"),
        command("absent", "no-such-program"),
        { ...command("slow", "sleep", "60"), timeoutMs: 300, must: false, weight: 2 },
      ];
      const results = await runChecks(options({ "a.md": "# Title" }, { checks }, { launch }));
      expect(summary(results)).toEqual([
        ["title", "passed", "grep ended with 0"],
        ["missing", "failed", "grep ended with exit code 1"],
        ["absent", "not-run", "no-such-program could not be run: no-such-program is not installed"],
        ["slow", "failed", "sleep ran out of time"],
      ]);
      expect(results[3]).toMatchObject({
        kind: "command",
        must: false,
        weight: 2,
        failures: [{ category: "TIMEOUT" }],
      });
    },
  );

  test.skipIf(isSkipped)("say so when they print more than is kept", async () => {
    const prints = (bytes: number, code: number) => `yes | head -c ${bytes}; echo ended; exit ${code}`;
    const checks = [
      command("long", "sh", "-c", prints(5_000, 0)),
      command("long and failed", "sh", "-c", prints(5_000, 3)),
      command("short", "sh", "-c", prints(500, 0)),
    ];
    const given = options({ a: "a" }, { checks }, { launch, limits: { maxOutputBytes: 1_000 } });
    const lost = "It printed more than is kept: the middle of its output is missing";
    expect(summary(await runChecks(given))).toEqual([
      ["long", "passed", `sh ended with 0. ${lost}`],
      ["long and failed", "failed", `sh ended with exit code 3: ended. ${lost}`],
      ["short", "passed", "sh ended with 0"],
    ]);
  });

  test.skipIf(isSkipped)(
    "each works on the tree as it is, whatever the ones before did to their copy",
    async () => {
      const vandal =
        "fs.writeFileSync('a.txt', 'changed'); fs.utimesSync('a.txt', 1, 1); fs.mkdirSync('node_modules'); fs.rmSync('b.txt')";
      const witness =
        "if (fs.readFileSync('a.txt', 'utf8') !== 'as it was' || fs.readdirSync('.').join() !== 'a.txt,b.txt') process.exit(1)";
      const checks = [
        command("before", "node", "-e", witness),
        command("vandal", "node", "-e", vandal),
        command("after", "node", "-e", witness),
        command(
          "sly",
          "node",
          "-e",
          "const { atime, mtime } = fs.statSync('a.txt'); fs.writeFileSync('a.txt', 'as it is!'); fs.utimesSync('a.txt', atime, mtime)",
        ),
        command("after sly", "node", "-e", witness),
        command("folder", "mkdir", "coverage"),
        command("after folder", "node", "-e", witness),
        command("mode", "chmod", "600", "a.txt"),
        command("after mode", "sh", "-c", "test $(stat -c %a a.txt) = 644"),
      ];
      const given = options({ "a.txt": "as it was", "b.txt": "b" }, { checks }, { launch });
      const results = await runChecks(given);
      expect(results.map(({ name, status }) => [name, status])).toEqual(
        checks.map(({ name }) => [name, "passed"]),
      );
      expect(readdirSync(given.scratch)).toEqual([]);
    },
  );

  test.skipIf(isSkipped)(
    "that fail are explained by the reader of their output, with paths as the persona knows them",
    async () => {
      const test =
        'import test from "node:test"; import assert from "node:assert";\ntest("adds", () => assert.equal(1, 2));';
      const checks = [command("unit", "node", "--test", "src/")];
      const files = { "package.json": '{"type":"module"}', "src/a.test.js": test };
      const [read] = await runChecks(options(files, { checks }, { launch, readFailures: readOutput }));
      expect(read).toMatchObject({
        status: "failed",
        message: "node ended with exit code 1: adds: 1 == 2",
        failures: [{ category: "TEST_FAILURE", file: "src/a.test.js", line: 2 }],
      });
      const [unread] = await runChecks(options(files, { checks }, { launch }));
      expect(unread).toMatchObject({
        status: "failed",
        failures: [{ category: "CONTRACT", source: "check", code: "1" }],
      });
      expect(JSON.stringify([read, unread])).not.toMatch(/scratch|workspace\//);
    },
  );

  test.skipIf(isSkipped)(
    "find the modules of the project, by name and as programs, without a folder for them in the tree",
    async () => {
      const modules = join(temporaryDirectory(), "node_modules");
      mkdirSync(join(modules, "left", "bin"), { recursive: true });
      mkdirSync(join(modules, ".bin"));
      writeFileSync(
        join(modules, "left", "package.json"),
        '{"name":"left","version":"1.0.0","type":"module","exports":"./index.js","bin":"bin/left.js"}',
      );
      writeFileSync(join(modules, "left", "index.js"), "export const side = 'left';");
      writeFileSync(join(modules, "left", "bin", "left.js"), "#!/usr/bin/env node\nconsole.log('left')", {
        mode: 0o755,
      });
      symlinkSync("../left/bin/left.js", join(modules, ".bin", "left"));
      const checks = [
        command(
          "import",
          "node",
          "--input-type=module",
          "-e",
          "import { side } from 'left'; if (side !== 'left') process.exit(1)",
        ),
        command("program", "left"),
        command("npx", "npx", "left"),
        command("write", "sh", "-c", "test ! -e node_modules/x && touch node_modules/x"),
        command("write-again", "sh", "-c", "test ! -e node_modules/x && touch node_modules/x"),
      ];
      const results = await runChecks(
        options({ "a.js": "" }, { checks }, { launch, layers: [{ source: modules, place: "node_modules" }] }),
      );
      expect(summary(results).filter(([, status]) => status !== "passed")).toEqual([]);
    },
  );
});

test("one check can be run alone", async () => {
  const given = options(
    { "a.md": "x" },
    {
      deliverables: [{ name: "d", files: ["a.md"], must: true, weight: 1 }],
      outputs: {},
      checks: [command("true", "true")],
    },
  );
  const checks = declaredChecks(given.contract);
  expect(checks.map(({ kind }) => kind)).toEqual(["deliverable", "schema", "command"]);
  for (const check of checks) {
    expect(await runCheck(check, { ...given, outputs: {} })).toMatchObject({
      kind: check.kind,
      status: "passed",
    });
  }
});

test("progress is reported before and after each check", async () => {
  const told: string[] = [];
  const onProgress: ChecksOptions["onProgress"] = (check, result) =>
    told.push(`${check.kind}:${result?.status ?? "running"}`);
  await runChecks(
    options({}, { outputs: {}, checks: [command("true", "true")] }, { outputs: {}, onProgress }),
  );
  expect(told).toEqual(["schema:running", "schema:passed", "command:running", "command:passed"]);
});

test("an abort ends the check under way and is thrown; nothing is left in the scratch folder", async () => {
  const controller = new AbortController();
  const given = options(
    { a: "a" },
    { checks: [command("first", "sleep", "60"), command("never", "true")] },
    {
      signal: controller.signal,
      onProgress: () => setTimeout(() => controller.abort(new Error("no longer wanted")), 100),
    },
  );
  await expect(runChecks(given)).rejects.toThrow("no longer wanted");
  expect(readdirSync(given.scratch)).toEqual([]);
});

test("a reader of failures that finds nothing does not turn a failure into success", async () => {
  const given = options({}, { checks: [command("false", "false")] }, { readFailures: () => [] });
  expect(await runChecks(given)).toMatchObject([{ status: "failed", failures: [{ category: "CONTRACT" }] }]);
  const secret = createFailure({ category: "UNKNOWN", message: "password=hunter2hunter2", source: "test" });
  expect(JSON.stringify(await runChecks({ ...given, readFailures: () => [secret] }))).not.toContain(
    "hunter2",
  );
});

test("a check that ran without a sandbox says so, passed or failed; one that ran in it does not", async () => {
  const contract = { checks: [command("good", "true"), command("bad", "false")] };
  const bare = await runChecks(options({}, contract, { launch: { sandbox: "none" } }));
  expect(bare.map(({ status, unconfined }) => [status, unconfined])).toEqual([
    ["passed", true],
    ["failed", true],
  ]);
  if (sandbox.kind === "none") return;
  const here = await runChecks(options({}, contract));
  expect(here.map(({ unconfined }) => unconfined)).toEqual([undefined, undefined]);
});
