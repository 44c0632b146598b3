import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runCommand } from "../../../src/workspace/command.ts";
import { ControlGroup } from "../../../src/workspace/control-group.ts";
import { commandLimits } from "../../../src/workspace/process-limits.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

const isPossible = await ControlGroup.isPossible();

const launch = { file: "/bin/sh", args: ["-c", "echo $$"], directory: "/", env: {}, descriptors: [] };

/** A plain folder stands in for the kernel's: its files keep what they are told. */
async function groupIn(parent: string) {
  const group = await ControlGroup.below(parent, { memoryMiB: 3, diskMiB: 1, processes: 7 });
  return { group, folder: join(parent, readdirSync(parent)[0] ?? "") };
}

test("a group has the limits, and a launch enters it before it becomes the command", async () => {
  const { group, folder } = await groupIn(temporaryDirectory());
  expect(readFileSync(join(folder, "memory.max"), "utf8")).toBe(String(3 * 2 ** 20));
  expect(readFileSync(join(folder, "pids.max"), "utf8")).toBe("7");
  const { file, args } = group.entered(launch);
  const { stdout } = spawnSync(file, args, { encoding: "utf8" });
  expect(readFileSync(join(folder, "cgroup.procs"), "utf8")).toBe(stdout);
});

test("a command runs although its group cannot be entered", async () => {
  const { group, folder } = await groupIn(temporaryDirectory());
  const { file, args } = group.entered({ ...launch, args: ["-c", "echo ran"] });
  const words = args.map((word) => (word.startsWith(folder) ? "/no/such/folder/cgroup.procs" : word));
  expect(spawnSync(file, words, { encoding: "utf8" })).toMatchObject({ stdout: "ran\n", stderr: "" });
});

test("a group knows whether the kernel ended it for its memory", async () => {
  const { group, folder } = await groupIn(temporaryDirectory());
  expect(await group.hasRunOutOfMemory()).toBe(false);
  writeFileSync(join(folder, "memory.events"), "low 0\nmax 12\noom 1\noom_kill 0\n");
  expect(await group.hasRunOutOfMemory()).toBe(false);
  writeFileSync(join(folder, "memory.events"), "low 0\nmax 12\noom 1\noom_kill 2\n");
  expect(await group.hasRunOutOfMemory()).toBe(true);
});

test.skipIf(!isPossible)(
  "the kernel ends a command whose memory files pass the limit (needs a cgroup v2 that we may divide)",
  async () => {
    const script = `const fs = require("node:fs");
      for (let file = 0; ; file += 1) fs.writeFileSync("/dev/shm/" + file, Buffer.alloc(2 ** 20, 1));`;
    const result = await runCommand({
      argv: ["node", "-e", script],
      directory: temporaryDirectory(),
      timeoutMs: 60_000,
      maxOutputBytes: 10_000,
      signal: new AbortController().signal,
      network: false,
      writable: "workspace",
      limits: { ...commandLimits, memoryMiB: 256 },
    });
    expect(result).toMatchObject({
      kind: "exceeded",
      reason: "the memory of all its processes passed 256 MiB",
    });
    expect(existsSync("/dev/shm/0")).toBe(false);
  },
);
