import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Command, type CommandResult, runCommand } from "../../../src/workspace/command.ts";
import { describeSandbox } from "../../../src/workspace/sandbox.ts";
import { temporaryDirectory } from "../../unit/workspace/temporary-directory.ts";

const sandbox = await describeSandbox();
const ways = [
  ["in a sandbox", sandbox],
  ["without a sandbox", { kind: "none", reason: "for this test", lacks: "program" }],
] as const;

describe.each(ways)("a command %s", (_, way) => {
  const isSkipped = way === sandbox && sandbox.kind === "none";

  const run = (argv: readonly string[], more: Partial<Command> = {}): Promise<CommandResult> =>
    runCommand(
      {
        argv,
        directory: temporaryDirectory(),
        timeoutMs: 9000,
        maxOutputBytes: 100_000,
        signal: new AbortController().signal,
        network: false,
        writable: "workspace",
        sandbox: way.kind === "none" ? "none" : "required",
        ...more,
      },
      () => Promise.resolve(way),
    );

  test.skipIf(isSkipped)("gives what it printed, its exit code and how it ran", async () => {
    const result = await run([
      "node",
      "-e",
      "console.log('out'); console.error('err'); process.exitCode = 3",
    ]);
    expect(result).toEqual({
      kind: "exited",
      code: 3,
      signal: null,
      stdout: "out\n",
      stderr: "err\n",
      truncated: false,
      durationMs: expect.any(Number) as number,
      sandbox: way.kind,
    });
  });

  test.skipIf(isSkipped)("finds no program by name among the files of its folder", async () => {
    const directory = temporaryDirectory();
    for (const folder of [".venv/bin", "node_modules/.bin"]) {
      mkdirSync(join(directory, folder), { recursive: true });
      writeFileSync(join(directory, folder, "cat"), "#!/bin/sh\necho written by a persona\n", {
        mode: 0o755,
      });
    }
    writeFileSync(join(directory, ".venv/pyvenv.cfg"), "");
    expect(await run(["cat"], { directory, stdin: "of the system" })).toMatchObject({
      code: 0,
      stdout: "of the system",
    });
  });

  test.skipIf(isSkipped)(
    "reads what it is given, works in its folder and leaves its files there",
    async () => {
      const directory = temporaryDirectory();
      writeFileSync(join(directory, "in.txt"), "file");
      const script = "fs.writeFileSync('out.txt', fs.readFileSync('in.txt') + fs.readFileSync(0))";
      expect(await run(["node", "-e", script], { directory, stdin: " and stdin" })).toMatchObject({
        code: 0,
      });
      expect(readdirSync(directory).sort()).toEqual(["in.txt", "out.txt"]);
    },
  );

  test.skipIf(isSkipped)(
    "sees none of our environment: no keys, only what it needs and is given",
    async () => {
      process.env["ANTHROPIC_API_KEY"] = "sk-very-secret";
      const result = await run(["node", "-e", "console.log(JSON.stringify(process.env))"], {
        env: { GIVEN: "yes" },
      });
      delete process.env["ANTHROPIC_API_KEY"];
      const seen = JSON.parse("stdout" in result ? result.stdout : "") as Record<string, string>;
      expect(
        Object.keys(seen)
          // The last one names the toolchains of a machine whose cargo is rustup's.
          .filter((name) => !["PWD", "MAESTRO_COMMAND", "RUSTUP_HOME"].includes(name))
          .sort(),
      ).toEqual(["CI", "GIVEN", "HOME", "LANG", "NO_COLOR", "PATH", "TZ"]);
      expect(seen["HOME"]).not.toBe(process.env["HOME"]);
    },
  );

  test.skipIf(isSkipped)("has its arguments as they are: no shell looks at them", async () => {
    const hostile = ["; echo no", "$(echo no)", "`echo no`", "a b", "*", "'\"", "--", "-x"];
    const result = await run([
      "node",
      "-e",
      "console.log(JSON.stringify(process.argv.slice(1)))",
      "--",
      ...hostile,
    ]);
    expect(JSON.parse("stdout" in result ? result.stdout : "")).toEqual(hostile);
  });

  test
    .skipIf(isSkipped)
    .each([
      [["no-such-program"]],
      [["./no-such-program"]],
      [["/no/such/program"]],
      [["./a-folder"]],
      [["./not-executable"]],
      [["./bad-interpreter"]],
      [[]],
      [[""]],
      [["node", "a\0b"]],
      [["node", "x".repeat(3_000_000)]],
    ])("that cannot be started is not one that failed: %j", async (argv) => {
    const directory = temporaryDirectory();
    mkdirSync(join(directory, "a-folder"));
    writeFileSync(join(directory, "not-executable"), "#!/bin/sh\n", { mode: 0o644 });
    writeFileSync(join(directory, "bad-interpreter"), "#!/no/such/shell\n", { mode: 0o755 });
    expect(await run(argv, { directory })).toMatchObject({
      kind: "not-started",
      reason: expect.stringMatching(/./) as string,
      sandbox: way.kind,
    });
  });

  test.skipIf(isSkipped)("that ignores SIGTERM is killed", async () => {
    const controller = new AbortController();
    let abortedAt = Number.POSITIVE_INFINITY;
    const deaf = "process.on('SIGTERM', () => {}); console.log('up'); setInterval(() => {}, 1000)";
    await run(["node", "-e", deaf], {
      signal: controller.signal,
      onOutput: () => {
        abortedAt = performance.now();
        controller.abort();
      },
    });
    expect(performance.now() - abortedAt).toBeLessThan(30_000);
  });

  test.skipIf(isSkipped)("ended by a signal has the code a shell would give", async () => {
    expect(await run(["node", "-e", "process.kill(process.pid, 'SIGABRT')"])).toMatchObject({
      kind: "exited",
      code: 134,
      signal: "SIGABRT",
    });
  });

  test.skipIf(isSkipped)("is ended at its limit, and what it had printed is kept", async () => {
    const result = await run(["node", "-e", "console.log('begun'); setInterval(() => {}, 1000)"], {
      timeoutMs: 1500,
    });
    expect(result).toMatchObject({ kind: "timeout", stdout: "begun\n" });
  });

  test.skipIf(isSkipped)(
    "is ended when the caller no longer wants it, before or after its start",
    async () => {
      expect(await run(["node", "-e", "1"], { signal: AbortSignal.abort() })).toMatchObject({
        kind: "aborted",
      });
      const controller = new AbortController();
      const result = await run(["node", "-e", "console.log('begun'); setInterval(() => {}, 1000)"], {
        signal: controller.signal,
        onOutput: () => controller.abort(),
      });
      expect(result).toMatchObject({ kind: "aborted", stdout: "begun\n" });
    },
  );

  test.skipIf(isSkipped)("that prints too much keeps its beginning and its end", async () => {
    const result = await run(
      ["node", "-e", "console.log('first'); console.log('x'.repeat(1e6)); console.log('last')"],
      {
        maxOutputBytes: 100,
      },
    );
    expect(result).toMatchObject({
      truncated: true,
      stdout: expect.stringMatching(/^first\n[^]*bytes left out[^]*last\n$/) as string,
    });
  });

  test.skipIf(isSkipped)("can be watched, and a watcher that throws does no harm", async () => {
    const seen: string[] = [];
    const result = await run(["node", "-e", "console.log('€'); console.error('e')"], {
      onOutput: (text, stream) => {
        seen.push(`${stream}:${text}`);
        throw new Error("a careless watcher");
      },
    });
    expect(result).toMatchObject({ code: 0 });
    expect(seen.sort()).toEqual(["stderr:e\n", "stdout:€\n"]);
  });

  test.skipIf(isSkipped)("leaves no temporary folders behind", async () => {
    const [before, own] = [process.env["TMPDIR"], temporaryDirectory()];
    process.env["TMPDIR"] = own;
    const script =
      "fs.mkdirSync(process.env.HOME + '/.cache'); fs.writeFileSync(process.env.HOME + '/.cache/x', '')";
    const result = await run(["node", "-e", script]);
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
    expect(result).toMatchObject({ code: 0 });
    expect(readdirSync(own)).toEqual([]);
  });
});
