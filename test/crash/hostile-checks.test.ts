import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sha256 } from "../../src/domain/canonical.ts";
import { newId } from "../../src/domain/ids.ts";
import { runChecks } from "../../src/workspace/checks.ts";
import { type Command, type CommandResult, runCommand } from "../../src/workspace/command.ts";
import { commandLimits, maxFileBytes, mebibyte } from "../../src/workspace/process-limits.ts";
import { removeFolder } from "../../src/workspace/remove-folder.ts";
import { describeSandbox } from "../../src/workspace/sandbox.ts";
import { MemoryBlobs } from "../unit/workspace/counted-blobs.ts";
import { temporaryDirectory } from "./damage-support/temporary-directory.ts";
import { survivors } from "./hostile-support/survivors.ts";
import { Program } from "./support/program.ts";
import { until } from "./support/until.ts";

const sandbox = await describeSandbox();
const isSandboxed = sandbox.kind === "bubblewrap";
/** Linux does not limit the processes of root, also not in a sandbox. */
const isRootInside =
  process.geteuid?.() === 0 && sandbox.kind === "bubblewrap" && sandbox.identity !== "other-user";
const bare = { kind: "none", reason: "for this test", lacks: "program" } as const;
/** Ending takes time on a busy machine; the commands would run for a day. */
const slackMs = 120_000;

interface Run {
  readonly result: CommandResult;
  readonly mark: string;
  readonly elapsedMs: number;
}

async function run(
  argv: readonly string[],
  { detect = sandbox, ...more }: Partial<Omit<Command, "argv">> & { detect?: typeof sandbox } = {},
): Promise<Run> {
  const mark = `mark-${newId()}`;
  const from = performance.now();
  const result = await runCommand(
    {
      argv: argv.map((word) => word.replaceAll("MARK", mark)),
      directory: temporaryDirectory(),
      env: { HOSTILE_MARK: mark },
      timeoutMs: 2000,
      maxOutputBytes: 10_000,
      signal: new AbortController().signal,
      network: false,
      writable: "workspace",
      sandbox: detect.kind === "none" ? "none" : "required",
      ...more,
    },
    () => Promise.resolve(detect),
  );
  return { result, mark, elapsedMs: performance.now() - from };
}

const outcome = ({ result, mark, elapsedMs }: Run, timeoutMs = 2000) => ({
  kind: result.kind,
  left: survivors(mark),
  isInTime: elapsedMs < timeoutMs + slackMs,
});
/** Ended at its limit, and none of its processes is left. */
const ended = { kind: "timeout", left: [], isInTime: true };
/** Ended by itself, and none of its processes is left. */
const left = { kind: "exited", left: [], isInTime: true };

const sh = (script: string): string[] => ["sh", "-c", script];
/** Exits with 0 once its child has started. */
const untilReady = "while ! test -e ready; do sleep 0.01; done; exit 0";
const node = (script: string): string[] => ["node", "-e", script];

const ways = [
  ["in a sandbox (needs bubblewrap)", sandbox, isSandboxed],
  ["without a sandbox", bare, true],
] as const;

describe.each(ways)("Maestro ends a check with all its children, %s,", (_, detect, isPossible) => {
  test.skipIf(!isPossible)("when it sleeps forever", async () => {
    expect(outcome(await run(sh("sleep 100000 & sleep 100000"), { detect }))).toEqual(ended);
  });

  test.skipIf(!isPossible)("when it ignores every signal it can", async () => {
    expect(
      outcome(await run(sh("trap '' TERM INT HUP QUIT USR1; while :; do sleep 1; done"), { detect })),
    ).toEqual(ended);
  });

  test.skipIf(!isPossible)("when its children ignore signals and outlive it", async () => {
    const { result, mark, elapsedMs } = await run(
      sh(`(trap '' TERM HUP; touch ready; sleep 100000) & ${untilReady}`),
      {
        detect,
      },
    );
    expect([result.kind, survivors(mark)]).toEqual(["exited", []]);
    expect(elapsedMs).toBeLessThan(slackMs);
  });

  test.skipIf(!isPossible)("when it becomes a daemon: new session, forked twice, nothing open", async () => {
    const daemon =
      "setsid sh -c '(sleep 100000 </dev/null >/dev/null 2>&1 &) ; touch ready; sleep 100000 &' </dev/null >/dev/null 2>&1 &";
    expect(outcome(await run(sh(`${daemon} ${untilReady}`), { detect }), 0)).toEqual(left);
  });

  test.skipIf(!isPossible)("when its daemon keeps its output open", async () => {
    const { result, mark, elapsedMs } = await run(
      sh(`echo printed; setsid sh -c 'touch ready; sleep 100000' & ${untilReady}`),
      {
        detect,
      },
    );
    expect(result).toMatchObject({ kind: "exited", stdout: "printed\n" });
    expect(survivors(mark)).toEqual([]);
    expect(elapsedMs).toBeLessThan(slackMs);
  });

  test.skipIf(!isPossible)("when it prints without end, without using memory", async () => {
    const before = process.memoryUsage().rss;
    const endless = await run(sh("yes 'a line without meaning'"), { detect });
    expect(outcome(endless)).toEqual(ended);
    expect(endless.result).toMatchObject({ truncated: true });
    expect("stdout" in endless.result ? endless.result.stdout.length : 0).toBeLessThan(11_000);
    expect(process.memoryUsage().rss - before).toBeLessThan(300e6);
  });

  test.skipIf(!isPossible)("when hundreds of children start children", async () => {
    const tree =
      "for i in 1 2 3 4 5 6 7 8 9 10; do (for j in 1 2 3 4 5 6 7 8 9 10; do (sleep 100000 & sleep 100000) & done; wait) & done; wait";
    expect(outcome(await run(sh(tree), { detect }))).toEqual(ended);
  });

  test.skipIf(!isPossible)("when the caller aborts", async () => {
    const controller = new AbortController();
    const aborted = run(sh("echo begun; trap '' TERM; sleep 100000 & wait; sleep 100000"), {
      detect,
      timeoutMs: 60_000,
      signal: controller.signal,
      onOutput: () => controller.abort(),
    });
    const { result, mark } = await aborted;
    expect([result.kind, survivors(mark)]).toEqual(["aborted", []]);
  });
});

describe.skipIf(!isSandboxed)("a check in a sandbox (needs bubblewrap)", () => {
  let server: Server;
  let abstract: Server;
  let connections = 0;
  const name = `maestro-${newId()}`;

  beforeAll(async () => {
    const listen = (on: number | string): Promise<Server> =>
      new Promise((resolve) => {
        const made = createServer((socket) => {
          connections += 1;
          socket.end("reached");
        });
        if (typeof on === "number") made.listen(on, "127.0.0.1", () => resolve(made));
        else made.listen(on, () => resolve(made));
      });
    server = await listen(0);
    abstract = await listen(`\0${name}`);
  });
  afterAll(() => {
    server.close();
    abstract.close();
  });

  test("cannot reach the network, a server on this machine, or a named or abstract socket", async () => {
    const { port } = server.address() as { port: number };
    const socket = join(temporaryDirectory(), "socket");
    const named = createServer((connection) => connection.end("reached"));
    await new Promise<void>((resolve) => named.listen(socket, resolve));
    chmodSync(socket, 0o777);
    const script = `for (const to of [{ port: ${port}, host: "127.0.0.1" }, { path: "\\0${name}" }, { path: ${JSON.stringify(socket)} }])
      net.connect(to).on("data", (data) => console.log(String(data))).on("error", () => console.log("refused"));`;
    const { result } = await run(node(script), { timeoutMs: 20_000 });
    named.close();
    expect([result, connections]).toMatchObject([
      { kind: "exited", stdout: "refused\nrefused\nrefused\n" },
      0,
    ]);
    // With the network allowed the same command works, so the server is real.
    const allowed = await run(
      node(`net.connect(${port}, "127.0.0.1").on("data", (data) => console.log(String(data)))`),
      {
        network: true,
        timeoutMs: 20_000,
      },
    );
    expect(allowed.result).toMatchObject({ stdout: "reached\n" });
  });

  test("cannot change, remove or see files outside its copy", async () => {
    const outside = temporaryDirectory();
    chmodSync(outside, 0o777);
    mkdirSync(join(outside, "state"), { mode: 0o777 });
    writeFileSync(join(outside, "state", "maestro.db"), "the state", { mode: 0o666 });
    const before = statSync(join(outside, "state", "maestro.db"));
    const directory = join(outside, "workspace");
    mkdirSync(directory);
    const file = JSON.stringify(join(outside, "state", "maestro.db"));
    const script = `
      const tries = [
        () => fs.readFileSync(${file}), () => fs.writeFileSync(${file}, "x"), () => fs.rmSync(${file}), () => fs.chmodSync(${file}, 0),
        () => fs.renameSync(${file}, "/workspace/taken"), () => fs.linkSync(${file}, "/workspace/linked"),
        () => fs.readFileSync("../state/maestro.db"), () => fs.writeFileSync("../escaped", ""), () => fs.readFileSync("/workspace/../etc/shadow"),
        () => { fs.symlinkSync("/etc/shadow", "link"); fs.readFileSync("link"); },
        () => fs.readFileSync("/proc/1/root/etc/shadow"), () => fs.readFileSync("/proc/1/environ"), () => fs.readdirSync("/proc/1/cwd/work"),
        // Of the home, checks see toolchains alone.
        () => fs.readFileSync(${JSON.stringify(join(homedir(), ".bashrc"))}),
      ];
      for (const attempt of tries) try { attempt(); console.log("possible: " + attempt); } catch {}
      console.log("tried " + tries.length);`;
    const { result } = await run(node(script), {
      directory,
      timeoutMs: 20_000,
      hidden: [join(outside, "state")],
    });
    expect(result).toMatchObject({ kind: "exited", stdout: "tried 14\n" });
    expect(statSync(join(outside, "state", "maestro.db"))).toEqual(before);
    expect(readdirSync(outside).sort()).toEqual(["state", "workspace"]);
    expect(readFileSync(join(outside, "state", "maestro.db"), "utf8")).toBe("the state");
  });

  test("sees and ends only its own processes", async () => {
    const script = `const seen = fs.readdirSync("/proc").filter((name) => /^\\d+$/.test(name)).length;
      console.log(seen < 10 ? "few" : "many");
      for (const pid of [${process.pid}, 1]) try { process.kill(pid, "SIGKILL"); } catch {}
      console.log("still here"); try { process.kill(-1, "SIGKILL"); } catch {}`;
    const { result, mark } = await run(node(script), { timeoutMs: 20_000 });
    expect(result).toMatchObject({ kind: "exited", stdout: expect.stringMatching(/^few\n/) as string });
    expect(survivors(mark)).toEqual([]);
  });

  const canLimit = isSandboxed && sandbox.prlimit !== undefined;

  test.skipIf(!canLimit || isRootInside || spawnSync("perl", ["-e", "1"]).status !== 0)(
    "that is a fork bomb stays within its process limit and is ended (needs prlimit and perl)",
    async () => {
      const before = processCount();
      let most = 0;
      const counting = setInterval(() => (most = Math.max(most, processCount() - before)), 50);
      const bombed = await run(["perl", "-e", "1 while fork || 1"], { timeoutMs: 3000 });
      clearInterval(counting);
      expect(outcome(bombed, 3000)).toEqual(ended);
      expect(most).toBeGreaterThan(commandLimits.processes / 2);
      expect(most).toBeLessThan(commandLimits.processes + 100);
    },
  );

  test.skipIf(!canLimit)("cannot exceed its limits of memory and file size (needs prlimit)", async () => {
    const memory = await run(node(`Buffer.allocUnsafeSlow(${commandLimits.memoryMiB * mebibyte})`), {
      timeoutMs: 20_000,
    });
    expect(memory.result).toMatchObject({
      kind: "exited",
      stderr: expect.stringMatching(/alloc/i) as string,
    });
    const file = await run(node(`fs.writeFileSync("f", ""); fs.truncateSync("f", ${maxFileBytes + 1})`), {
      timeoutMs: 20_000,
    });
    expect(file.result).toMatchObject({ kind: "exited" });
    expect("code" in file.result && file.result.code).not.toBe(0);
  });

  test("cannot hide a daemon by clearing its environment", async () => {
    const { result, mark } = await run(
      sh(
        `env -i setsid sh -c 'touch ready; sleep 100000; : MARK' </dev/null >/dev/null 2>&1 & ${untilReady}`,
      ),
    );
    expect([result.kind, survivors(mark)]).toEqual(["exited", []]);
  });

  test("does not outlive Maestro when Maestro itself is killed", async () => {
    const mark = `mark-${newId()}`;
    const lone = new Program("../hostile-support/lone-command.ts", {
      directory: temporaryDirectory(),
      argv: sh("trap '' TERM; setsid sleep 100000 & echo begun; sleep 100000"),
      mark,
    });
    await until("the command has begun", () => lone.isReady);
    expect(survivors(mark).length).toBeGreaterThan(2);
    await lone.end();
    await until("all of it is gone", () => survivors(mark).length === 0);
  });

  test("that creates folders too deep for any path leaves nothing behind", async () => {
    const directory = temporaryDirectory();
    const script = `for (let i = 0; i < 60; i++) { const name = "x".repeat(200); fs.mkdirSync(name); process.chdir(name); } fs.chmodSync(".", 0);`;
    const { result } = await run(node(script), { directory, timeoutMs: 20_000 });
    expect(result).toMatchObject({ kind: "exited", code: 0 });
    await removeFolder(directory);
    expect(readdirSync(join(directory, ".."))).not.toContain(directory.split("/").at(-1));
  });
});

test("hostile checks of a contract get one verdict each and leave neither files nor processes", async () => {
  const blobs = new MemoryBlobs();
  const [scratch, mark] = [temporaryDirectory(), `mark-${newId()}`];
  const check = (name: string, run: string[]) => ({ name, run, must: true, weight: 1, timeoutMs: 2000 });
  const results = await runChecks({
    contract: {
      deliverables: [],
      checks: [
        check("wrecks", sh(`rm -rf -- * .[a-z]*; mkdir -p a/b; chmod 000 a/b a; : ${mark}`)),
        check("links", sh("ln -s /etc/passwd a.txt.link; mkfifo pipe; ln a.txt twin")),
        check("stays", sh(`setsid sh -c 'touch ready; sleep 100000; : ${mark}' & ${untilReady}`)),
        check("hangs", sh(`while :; do :; done; : ${mark}`)),
        check("works", sh("test $(cat a.txt) = content && test $(ls | wc -l) = 1")),
      ],
    },
    tree: blobs.tree({ "a.txt": "content" }),
    outputs: undefined,
    blobs,
    scratch,
    signal: new AbortController().signal,
  });
  expect(results.map(({ name, status }) => [name, status])).toEqual([
    ["wrecks", "passed"],
    ["links", "passed"],
    ["stays", "passed"],
    ["hangs", "failed"],
    ["works", "passed"],
  ]);
  expect([readdirSync(scratch), survivors(mark)]).toEqual([[], []]);
  // The output of each check is kept, and none of them printed anything.
  expect(new Set(blobs.puts)).toEqual(new Set([sha256("")]));
});

function processCount(): number {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name)).length;
}
