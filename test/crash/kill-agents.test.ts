import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { describeSandbox } from "../../src/workspace/sandbox.ts";
import type { DriveAgentOptions } from "./support/drive-agent.ts";
import { Program } from "./support/program.ts";
import { openStore } from "./support/recorded.ts";
import { until } from "./support/until.ts";

const agents = {
  claude: ["claude", "-p", "--output-format", "stream-json", "--verbose"],
  codex: ["codex", "exec", "--json"],
} as const;

let folder: string;
const programs: Program[] = [];
const at = (...names: string[]): string => join(folder, ...names);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "maestro-agents-"));
  for (const name of ["bin", "shared"]) mkdirSync(at(name));
  for (const [path, mode] of [
    [folder, 0o755],
    [at("shared"), 0o777],
  ] as const)
    chmodSync(path, mode);
  // As root each agent is another user: what one wrote the next may not write by itself.
  writeFileSync(at("shared", "log"), "");
  chmodSync(at("shared", "log"), 0o666);
  for (const name of Object.keys(agents)) {
    copyFileSync(join(import.meta.dirname, "support/fake-agent.mjs"), at("bin", name));
    chmodSync(at("bin", name), 0o755);
  }
});

afterEach(async () => {
  for (const program of programs.splice(0)) await program.end();
  rmSync(folder, { recursive: true, force: true });
});

const log = (): string[][] =>
  readFileSync(at("shared", "log"), "utf8")
    .trim()
    .split("\n")
    .map((line) => line.split(" "));

/** Without bubblewrap: one that makes no sandbox stands before the machine's own. */
function withoutSandbox(): void {
  writeFileSync(at("bin", "bwrap"), "#!/bin/sh\nexit 1\n");
  chmodSync(at("bin", "bwrap"), 0o755);
}

function drive(argv: readonly string[]): Program {
  const options: DriveAgentOptions = { stateDir: at("state"), argv, shared: at("shared") };
  const program = new Program("drive-agent.ts", options, {
    AGENT_SHARED: at("shared"),
    PATH: `${at("bin")}${delimiter}${process.env["PATH"]}`,
  });
  programs.push(program);
  return program;
}

const hold = (where: string) => writeFileSync(at("shared", `hold-${where}`), "");
const letGo = (where: string) => rmSync(at("shared", `hold-${where}`));
const hasSession = (): boolean => {
  const kept = at("state", "scratch", "kept");
  const sessions = existsSync(kept) ? readdirSync(kept) : [];
  return sessions.some((session) =>
    readdirSync(join(kept, session)).some((place) => existsSync(join(kept, session, place, "session.json"))),
  );
};

/** Kills Maestro while its agent is held; nobody but whoever comes after may do the rest. */
async function killWhileHeld(argv: readonly string[], where: string): Promise<void> {
  hold(where);
  const first = drive(argv);
  const line = where === "start" ? "begins" : `turn ${where}`;
  await until(`the agent is at ${where}`, () =>
    log().some((words) => words.slice(1).join(" ").startsWith(line)),
  );
  if (where !== "start") await until("its session is noted", hasSession);
  first.signal("SIGKILL");
  expect((await first.ended).signal).toBe("SIGKILL");
}

/** What comes after: a second agent, let go only when it is there, so that a first one that lives would be seen. */
async function goOn(argv: readonly string[], where: string) {
  const second = drive(argv);
  await until("another agent begins", () => log().filter(([, word]) => word === "begins").length === 2);
  letGo(where);
  const { code, stdout, stderr } = await second.ended;
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
}

async function ledger(): Promise<string[]> {
  const store = openStore(at("state"));
  const session = await store.findSession("agents");
  const rows = session === undefined ? [] : await store.ledger.calls(session.id);
  await store.close();
  return rows.map(({ status }) => status);
}

const sandbox = await describeSandbox();
const ways = [
  ["in bubblewrap (needs bubblewrap)", sandbox.kind !== "none"],
  ["without a sandbox", false],
] as const;

describe.each(ways)("Maestro is killed while an agent works, %s", (name, isSandboxed) => {
  const skipped = name.startsWith("in") && !isSandboxed;
  const cases = [
    ["claude", "1"],
    ["claude", "3"],
    ["codex", "2"],
  ] as const;

  it.skipIf(skipped).each(cases)(
    "%s, in turn %s: its session goes on, and no turn is paid twice",
    async (agent, turn) => {
      if (!isSandboxed) withoutSandbox();
      await killWhileHeld(agents[agent], turn);
      const { id, ending, files, usage } = await goOn(agents[agent], turn);
      expect(ending).toMatchObject({ status: "completed" });
      const { summary, outputs } = ending.results.only.agent;
      expect(summary).toBe("all four parts");
      // All four parts were written in one conversation, and only once each.
      const part = (number: number) => [`part-${number}.txt`, `${number} of ${outputs.session}\n`];
      expect(files).toEqual(Object.fromEntries([1, 2, 3, 4].map(part)));
      expect(log().map((words) => words.slice(1).join(" "))).toEqual([
        "begins anew",
        ...[1, 2, 3, 4].slice(0, Number(turn)).map((number) => `turn ${number}`),
        "begins again",
        ...[1, 2, 3, 4].slice(Number(turn)).map((number) => `turn ${number}`),
      ]);
      expect(await ledger()).toEqual(["estimated", "settled"]);
      expect(usage.inputTokens).toBe(100);
      expect(readdirSync(at("state", "scratch", "kept", id))).toEqual([]);
    },
  );

  it.skipIf(skipped)("before it said its session: it runs again from its first files", async () => {
    if (!isSandboxed) withoutSandbox();
    await killWhileHeld(agents.claude, "start");
    const { ending, files } = await goOn(agents.claude, "start");
    expect(ending).toMatchObject({ status: "completed" });
    expect(Object.keys(files)).toHaveLength(4);
    expect(log().map((words) => words.slice(1).join(" "))).toEqual([
      "begins anew",
      "begins anew",
      ...[1, 2, 3, 4].map((number) => `turn ${number}`),
    ]);
  });

  it.skipIf(skipped)(
    "an agent that nobody knows how to go on with runs again from its first files",
    async () => {
      if (!isSandboxed) withoutSandbox();
      // Claude's events, under another name.
      const argv = [at("bin", "own"), "-p"];
      copyFileSync(join(import.meta.dirname, "support/fake-agent.mjs"), at("bin", "own"));
      chmodSync(at("bin", "own"), 0o755);
      await killWhileHeld(argv, "2");
      const { files, ending } = await goOn(argv, "2");
      expect(ending).toMatchObject({ status: "completed" });
      expect(Object.keys(files)).toHaveLength(4);
      expect(
        log()
          .filter(([, word]) => word === "turn")
          .map(([, , turn]) => turn),
      ).toEqual(["1", "2", "1", "2", "3", "4"]);
    },
  );
});
