import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { newId } from "../../../src/domain/ids.ts";
import { type Command, runCommand } from "../../../src/workspace/command.ts";
import { commandLimits } from "../../../src/workspace/process-limits.ts";
import { describeSandbox } from "../../../src/workspace/sandbox.ts";
import { survivors } from "../../crash/hostile-support/survivors.ts";
import { temporaryDirectory } from "../../unit/workspace/temporary-directory.ts";

const sandbox = await describeSandbox();
const hasPerl = spawnSync("perl", ["-e", "1"]).status === 0;
const hasPython = spawnSync("python3", ["-c", "import os; os.memfd_create"]).status === 0;
const ways = [
  ["in a sandbox (needs bubblewrap)", "required", sandbox.kind !== "none"],
  ["without a sandbox", "none", true],
] as const;

describe.each(ways)("all processes of one command together, %s,", (_, rule, isPossible) => {
  const isSkipped = !isPossible || process.platform !== "linux";

  async function run(argv: readonly string[], limits: Partial<Command["limits"]>) {
    const mark = `mark-${newId()}`;
    const result = await runCommand({
      argv,
      directory: temporaryDirectory(),
      env: { HOSTILE_MARK: mark },
      timeoutMs: 60_000,
      maxOutputBytes: 10_000,
      signal: new AbortController().signal,
      network: false,
      writable: "workspace",
      sandbox: rule,
      limits: { ...commandLimits, ...limits },
    });
    return { result, left: survivors(mark) };
  }

  const node = (script: string) => ["node", "-e", script];

  test.skipIf(isSkipped)(
    "are ended when their memory passes the limit, although each process stays below it",
    async () => {
      // Five children of 100 MiB each, one of them two generations down.
      const child = "globalThis.kept = Buffer.alloc(100 * 2 ** 20, 1); setInterval(() => {}, 1000)";
      const script = `const { spawn } = require("node:child_process");
        const start = () => spawn("node", ["-e", ${JSON.stringify(child)}], { stdio: "ignore" });
        for (let number = 0; number < 4; number += 1) start();
        spawn("sh", ["-c", 'node -e "$0" & exit 0', ${JSON.stringify(child)}], { stdio: "ignore" });
        setInterval(() => {}, 1000);`;
      expect(await run(node(script), { memoryMiB: 400 })).toMatchObject({
        result: { kind: "exceeded", reason: "the memory of all its processes passed 400 MiB" },
        left: [],
      });
    },
  );

  test.skipIf(isSkipped)("are ended when they write more files than the limit", async () => {
    const script = `for (let number = 0; ; number += 1) {
      require("node:fs").mkdirSync("d" + (number % 7), { recursive: true });
      require("node:fs").writeFileSync("d" + (number % 7) + "/" + number, Buffer.alloc(2 ** 20, 1));
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    }`;
    expect(await run(node(script), { diskMiB: 32 })).toMatchObject({
      result: { kind: "exceeded", reason: "the files in its folder passed 32 MiB" },
      left: [],
    });
  });

  test.skipIf(isSkipped)("are ended for files that they write after removing their names", async () => {
    const script = `const fs = require("node:fs");
      const file = fs.openSync("hidden", "w");
      fs.unlinkSync("hidden");
      setInterval(() => fs.writeSync(file, Buffer.alloc(2 ** 20, 1)), 20);`;
    expect(await run(node(script), { diskMiB: 32 })).toMatchObject({
      result: { kind: "exceeded", reason: "the files in its folder passed 32 MiB" },
      left: [],
    });
  });

  test.skipIf(isSkipped || !hasPython)("are ended for files in memory (needs python3)", async () => {
    const script = `import os, time
files = [os.memfd_create("kept") for _ in range(30)]
for file in files:
    os.write(file, b"x" * 2**24)
    time.sleep(0.02)
time.sleep(60)`;
    expect(await run(["python3", "-c", script], { memoryMiB: 256 })).toMatchObject({
      result: { kind: "exceeded", reason: "the memory of all its processes passed 256 MiB" },
      left: [],
    });
  });

  test.skipIf(isSkipped || rule === "none")(
    "are ended for temporary files, which are in memory",
    async () => {
      const script = `const fs = require("node:fs");
      for (let number = 0; ; number += 1) {
        fs.appendFileSync(number % 2 === 0 ? "/tmp/kept" : "/dev/shm/kept", Buffer.alloc(2 ** 20, 1));
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, number < 500 ? 5 : 100);
      }`;
      expect(await run(node(script), { memoryMiB: 256 })).toMatchObject({
        result: { kind: "exceeded", reason: "the memory of all its processes passed 256 MiB" },
        left: [],
      });
    },
  );

  test.skipIf(isSkipped || !hasPerl)("count memory that they share once (needs perl)", async () => {
    // 150 MiB in four processes, never written after the fork.
    const script = 'my $kept = "x" x (150 * 2 ** 20); fork; fork; sleep 2; print length $kept';
    const { result } = await run(["perl", "-e", script], { memoryMiB: 500 });
    expect(result).toMatchObject({ kind: "exited", code: 0 });
  });

  test.skipIf(isSkipped)("may use what the limits allow", async () => {
    const script = `require("node:fs").writeFileSync("file", Buffer.alloc(20 * 2 ** 20, 1));
      setTimeout(() => console.log("done"), 1500)`;
    const { result } = await run(node(script), { memoryMiB: 400, diskMiB: 32 });
    expect(result).toMatchObject({ kind: "exited", code: 0, stdout: "done\n" });
  });
});
