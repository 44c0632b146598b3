import { spawnSync } from "node:child_process";
import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { type Command, runCommand } from "../../../src/workspace/command.ts";
import { describeSandbox, detectSandbox, type Sandbox } from "../../../src/workspace/sandbox.ts";
import { temporaryDirectory } from "../../unit/workspace/temporary-directory.ts";

/** A folder with a bwrap of our own. */
function pathWith(script: string): string[] {
  const folder = temporaryDirectory();
  writeFileSync(join(folder, "bwrap"), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, "bwrap"), 0o755);
  return [folder];
}

const isInstalled = (program: string): boolean =>
  spawnSync(program, ["--version"], { stdio: "ignore" }).status === 0;

describe("the kind of sandbox is found by trying", () => {
  test("no bubblewrap: says which package to install", async () => {
    expect(await detectSandbox([temporaryDirectory()])).toEqual({
      kind: "none",
      reason: expect.stringContaining("package bubblewrap") as string,
      lacks: "program",
    });
  });

  test("a bubblewrap that may not make namespaces counts as missing, with its own message as the reason", async () => {
    const path = pathWith(
      'test "$1" = --version && echo "bubblewrap 0.8.0" && exit 0\necho "bwrap: No permissions to create new namespace" >&2\nexit 1',
    );
    expect(await detectSandbox(path)).toEqual({
      kind: "none",
      reason: expect.stringContaining("No permissions to create new namespace") as string,
      lacks: "rights",
    });
  });

  test("something else by that name counts as none", async () => {
    expect(await detectSandbox(pathWith("exit 1"))).toMatchObject({ kind: "none" });
  });

  test("is found out once", () => {
    expect(describeSandbox()).toBe(describeSandbox());
  });

  test("is found out again when the trial could not be made, and only then", async () => {
    vi.resetModules();
    const fresh = await import("../../../src/workspace/sandbox.ts");
    vi.useFakeTimers();
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const answers: Sandbox[] = [
      { kind: "none", reason: "it did not end", lacks: "rights", isUncertain: true },
      { kind: "none", reason: "no permissions", lacks: "rights" },
    ];
    const detect = async (): Promise<Sandbox> => answers.shift() as Sandbox;
    expect(await fresh.describeSandbox(detect)).toMatchObject({ reason: "it did not end" });
    expect(await fresh.describeSandbox(detect)).toMatchObject({ reason: "it did not end" });
    vi.advanceTimersByTime(60_000);
    expect(await fresh.describeSandbox(detect)).toEqual({
      kind: "none",
      reason: "no permissions",
      lacks: "rights",
    });
    vi.advanceTimersByTime(600_000);
    expect(await fresh.describeSandbox(detect)).toEqual({
      kind: "none",
      reason: "no permissions",
      lacks: "rights",
    });
  });
});

const sandbox = await describeSandbox();

const outside = (over: Partial<Command>): Command => ({
  argv: ["sh", "-c", "echo x > made; echo 2"],
  directory: temporaryDirectory(),
  timeoutMs: 9000,
  maxOutputBytes: 1000,
  signal: new AbortController().signal,
  network: false,
  writable: "workspace",
  ...over,
});

test("where no sandbox is wanted a command runs without one, and its result says so", async () => {
  const result = await runCommand(outside({ sandbox: "none" }));
  expect(result).toMatchObject({ kind: "exited", code: 0, stdout: "2\n", sandbox: "none" });
});

test("without a sandbox a command does not start unless that is allowed, and the error says how to get one", async () => {
  const directory = temporaryDirectory();
  const started = runCommand(outside({ directory }), () => detectSandbox([]));
  await expect(started).rejects.toThrow(/^sh was not started, because this machine has no sandbox: /);
  await expect(started).rejects.toMatchObject({
    name: "SandboxUnavailable",
    exitCode: 2,
    advice: expect.stringMatching(/bubblewrap.*--sandbox none/) as string,
  });
  expect(existsSync(join(directory, "made"))).toBe(false);
});

describe.skipIf(sandbox.kind === "none")("in bubblewrap (needs bubblewrap)", () => {
  const base = () => ({
    directory: temporaryDirectory(),
    timeoutMs: 9000,
    maxOutputBytes: 10_000,
    signal: new AbortController().signal,
    network: false,
    writable: "workspace" as const,
  });
  const run = (argv: string[], more: { hidden?: string[]; visible?: string[] } = {}) =>
    runCommand({ ...base(), argv, ...more });

  test("a command sees its files at /workspace, the system's programs, and little else", async () => {
    const result = await run([
      "sh",
      "-c",
      "pwd; ls /home /root /work /sys /boot /srv 2>/dev/null; ls /tmp; hostname",
    ]);
    expect(result).toMatchObject({ kind: "exited", sandbox: "bubblewrap" });
    const lines = "stdout" in result ? result.stdout.trim().split("\n") : [];
    expect([lines[0], lines.at(-1)]).toEqual(["/workspace", "sandbox"]);
    expect(lines.join()).not.toMatch(/package\.json|\.ssh/);
  });

  test.skipIf(!isInstalled("mvn"))("Maven of the system judges a project (needs Maven)", async () => {
    const project = base();
    writeFileSync(
      join(project.directory, "pom.xml"),
      "<project><modelVersion>4.0.0</modelVersion><groupId>a</groupId><artifactId>a</artifactId><version>1</version><packaging>pom</packaging></project>",
    );
    const result = await runCommand({ ...project, timeoutMs: 60_000, argv: ["mvn", "-B", "-o", "validate"] });
    expect(result).toMatchObject({
      kind: "exited",
      code: 0,
      stdout: expect.stringContaining("BUILD SUCCESS") as string,
    });
  });

  test.skipIf(!isInstalled("rustup"))(
    "cargo of rustup builds and tests a package, also from a shell (needs rustup)",
    async () => {
      const project = base();
      mkdirSync(join(project.directory, "src"));
      writeFileSync(
        join(project.directory, "Cargo.toml"),
        '[package]\nname = "sums"\nversion = "0.1.0"\nedition = "2021"\n',
      );
      writeFileSync(join(project.directory, "src/lib.rs"), "#[test]\nfn adds() { assert_eq!(1 + 1, 2); }\n");
      for (const argv of [
        ["cargo", "test", "--offline"],
        ["sh", "-c", "cargo test --offline"],
      ]) {
        const result = await runCommand({ ...project, timeoutMs: 120_000, argv });
        expect(result).toMatchObject({
          kind: "exited",
          code: 0,
          stdout: expect.stringContaining("1 passed") as string,
        });
      }
    },
    180_000,
  );

  test("passwords, keys and the settings of others are not there", async () => {
    const result = await run(["sh", "-c", "ls -a /etc"]);
    expect("stdout" in result ? result.stdout.split("\n") : ["shadow"]).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^(shadow|sudoers|ssh|npmrc|fstab)$/)]),
    );
  });

  // The machine has chosen one of these; the others must hold as well where they work, also for root.
  test.each(["other-user", "user-namespace", "same-user"] as const)(
    "only the workspace and temporary places can be written, and with `nothing` only the latter, as %s",
    async (identity) => {
      const detect = () => Promise.resolve({ ...sandbox, identity } as Sandbox);
      const places = ["/workspace/x", "/tmp/x", "/tmp/home/x", "/dev/shm/x"];
      const closed = [
        "/x",
        "/usr/x",
        "/etc/x",
        "/etc/passwd",
        "/dev/x",
        "/run/x",
        "/var/x",
        "/home/x",
        ["", "root", "x"].join("/"),
      ];
      const system = ["/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/proc/self/oom_score_adj"];
      const script = `for (const p of ${JSON.stringify([...places, ...closed, ...system])})
        try { fs.closeSync(fs.openSync(p, p.startsWith("/proc") ? "r+" : "a")); console.log(p) } catch {}`;
      const written = async (writable: "workspace" | "nothing"): Promise<string[] | string> => {
        const result = await runCommand({ ...base(), argv: ["node", "-e", script], writable }, detect);
        return result.kind === "exited" ? result.stdout.trim().split("\n") : result.kind;
      };
      const [all, some] = [await written("workspace"), await written("nothing")];
      const isPossible =
        all !== "not-started" || identity === (sandbox.kind === "bubblewrap" && sandbox.identity);
      expect([all, some]).toEqual(isPossible ? [places, places.slice(1)] : ["not-started", "not-started"]);
    },
  );

  test("a folder that is named is shown, and one in it that is to be hidden is not", async () => {
    const shown = temporaryDirectory();
    chmodSync(join(shown, ".."), 0o755);
    chmodSync(shown, 0o755);
    writeFileSync(join(shown, "tool"), "tool");
    const hidden = join(shown, "state");
    mkdirSync(hidden);
    writeFileSync(join(hidden, "secret"), "secret");
    const result = await run(
      ["sh", "-c", `cat ${shown}/tool; ls -a ${hidden}; touch ${shown}/y ${hidden}/y`],
      {
        visible: [shown],
        hidden: [hidden],
      },
    );
    expect(result).toMatchObject({ kind: "exited", code: 1, stdout: "tool.\n..\n" });
  });

  test("finds Node in a home folder, with the npx beside it", async () => {
    const home = temporaryDirectory();
    const [bin, npm] = [join(home, "node", "bin"), join(home, "node", "lib", "node_modules", "npm")];
    for (const folder of [bin, join(npm, "bin")]) mkdirSync(folder, { recursive: true });
    copyFileSync(process.execPath, join(bin, "node"), constants.COPYFILE_FICLONE);
    writeFileSync(
      join(npm, "bin", "npx-cli.js"),
      "#!/usr/bin/env node\nconsole.log(require('../index.js'), process.execPath)",
    );
    chmodSync(join(npm, "bin", "npx-cli.js"), 0o755);
    writeFileSync(join(npm, "index.js"), "module.exports = 'npx'");
    symlinkSync("../lib/node_modules/npm/bin/npx-cli.js", join(bin, "npx"));
    writeFileSync(join(home, "secret"), "secret");
    const command = { ...base(), argv: ["sh", "-c", `npx; ls ${home}`] };
    const script = `import { runCommand } from ${JSON.stringify(new URL("../../../src/workspace/command.ts", import.meta.url).href)};
      console.log(JSON.stringify(await runCommand({ ...${JSON.stringify(command)}, signal: new AbortController().signal })))`;
    const { stdout } = spawnSync(join(bin, "node"), ["--input-type=module", "-e", script], {
      encoding: "utf8",
    });
    expect(JSON.parse(stdout)).toMatchObject({
      stdout: `npx ${join(bin, "node")}\nnode\n`,
      sandbox: "bubblewrap",
    });
  });

  test("has no rights, cannot get any, and is another user where we are root", async () => {
    const result = await run(["sh", "-c", "grep -E '^(CapEff|CapPrm|NoNewPrivs)' /proc/self/status; id -u"]);
    expect(result).toMatchObject({
      stdout: expect.stringMatching(/^CapPrm:\s0+\nCapEff:\s0+\nNoNewPrivs:\s1\n\d+\n$/) as string,
    });
    const user = "stdout" in result ? Number(result.stdout.trim().split("\n").at(-1)) : 0;
    const isOther = sandbox.kind === "bubblewrap" && sandbox.identity === "other-user";
    expect(isOther ? user > 60_000 : user === process.getuid?.()).toBe(true);
  });
});
