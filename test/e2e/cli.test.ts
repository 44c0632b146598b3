import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { maestro, start, temporaryFolder } from "./support/maestro.ts";

const slowTeam = join(import.meta.dirname, "support/slow-team.ts");
const failingTeam = join(import.meta.dirname, "support/failing-team.ts");
const forbiddenTeam = join(import.meta.dirname, "support/forbidden-team.ts");
const quickRetries = {
  MAESTRO_L1_BASE_DELAY_MS: "1",
  MAESTRO_L1_MAX_DELAY_MS: "2",
  MAESTRO_L2_BASE_DELAY_MS: "1",
};

function place() {
  const folder = temporaryFolder();
  return { effects: join(folder, "effects.txt"), at: ["--state-dir", join(folder, "state")], folder };
}

const lines = (text: string): string[] => text.trim().split("\n");

test("run, killed with SIGKILL, then resumed by key: every step ran once", async () => {
  const { effects, at } = place();
  const killed = start(["run", effects, "--team", slowTeam, "--key", "k", ...at]);
  await vi.waitUntil(() => killed.output().includes("step 2"), { timeout: 20_000 });
  killed.child.kill("SIGKILL");
  await killed.finished;
  const resumed = await maestro(["resume", "k", "--json", ...at]);
  expect(resumed.code).toBe(0);
  const events = lines(resumed.stdout).map((line) => JSON.parse(line) as { kind: string; status?: string });
  expect(events.at(-1)).toMatchObject({ kind: "result", status: "completed" });
  expect(lines(readFileSync(effects, "utf8"))).toEqual([
    "first 1",
    "first 2",
    "first 3",
    "second 1",
    "second 2",
    "second 3",
  ]);
});

test("Ctrl-C pauses after the step under way, prints the resume command, exits 130", async () => {
  const { effects, at } = place();
  const run = start(["run", effects, "--team", slowTeam, "--key", "k", ...at]);
  await vi.waitUntil(() => run.output().includes("step 1"), { timeout: 20_000 });
  run.child.kill("SIGINT");
  const { code, stderr } = await run.finished;
  expect(code).toBe(130);
  expect(stderr).toMatch(/Resume with: maestro resume k --state-dir /);
  const [session] = JSON.parse((await maestro(["sessions", "--json", ...at])).stdout) as { status: string }[];
  expect(session).toMatchObject({ status: "paused", key: "k", team: "slow" });
  expect((await maestro(["show", "k", ...at])).stdout).toContain("Its command was interrupted.");
  expect((await maestro(["resume", "k", ...at])).code).toBe(0);
  expect(lines(readFileSync(effects, "utf8"))).toHaveLength(6);
});

test("the flags that every command has may stand before the command", async () => {
  const { at } = place();
  const { code, stdout } = await maestro([...at, "--json", "sessions"]);
  expect({ code, sessions: JSON.parse(stdout) as unknown }).toEqual({ code: 0, sessions: [] });
  const missing = await maestro([...at, "--json"]);
  expect(missing.code).toBe(2);
});

test("a persona that always fails is tried 6 times, then the session parks for help: exit 4", async () => {
  const { at } = place();
  const { code, stdout, stderr } = await maestro(
    ["run", "x", "--team", failingTeam, "--key", "k", ...at],
    quickRetries,
  );
  expect(code).toBe(4);
  expect(stdout).toContain("is parked (help)");
  expect(stderr.match(/worker.*: attempt failed/g)).toHaveLength(6);
  expect(stdout + stderr, "what a persona says cannot color the terminal").not.toContain("\u001b");
  const view = JSON.parse((await maestro(["show", "k", "--json", ...at])).stdout) as {
    reason: string;
    phases: {
      personas: { attempts: { round: number; attempt: number; failure: { message: string } }[] }[];
    }[];
  };
  expect(view.reason).toBe("help");
  expect(view.phases[0]?.personas[0]?.attempts.map(({ round, attempt }) => [round, attempt])).toEqual([
    [1, 1],
    [1, 2],
    [1, 3],
    [2, 1],
    [2, 2],
    [2, 3],
  ]);
});

test("3: a run that ends in failure says so, and why", async () => {
  const { at } = place();
  const failed = await maestro(["run", "x", "--team", forbiddenTeam, "--key", "k", ...at]);
  expect(failed.code).toBe(3);
  expect(failed.stdout).toMatch(/Session \w{26} is failed\./);
  expect(failed.stderr).toContain("Why it stopped: It wrote where it may not.");
  const document = await maestro(["resume", "k", "--json", ...at]);
  expect(document.code).toBe(3);
  expect(JSON.parse(lines(document.stdout).at(-1) ?? "")).toMatchObject({ kind: "result", status: "failed" });
});

test("pause and cancel from another terminal take effect at the next step; a canceled session stays canceled", async () => {
  const { effects, at } = place();
  writeFileSync(`${effects}.hold`, "");
  const run = start(["run", effects, "--team", slowTeam, "--key", "k", ...at]);
  await vi.waitUntil(() => run.output().includes("step 1"), { timeout: 20_000 });
  expect((await maestro(["pause", "k", ...at])).code).toBe(0);
  rmSync(`${effects}.hold`);
  expect((await run.finished).stdout).toContain("is paused");
  const canceled = await maestro(["cancel", "k", "--json", ...at]);
  expect(JSON.parse(canceled.stdout)).toMatchObject({ status: "canceled" });
  const again = await maestro(["resume", "k", ...at]);
  expect(again).toMatchObject({ code: 3 });
  expect(again.stderr).toContain("which is final");
});

test("the same key with another brief is refused with exit 2", async () => {
  const { effects, at } = place();
  const first = start(["run", effects, "--team", slowTeam, "--key", "k", ...at]);
  await vi.waitUntil(() => first.output().includes("step 1"), { timeout: 20_000 });
  const other = await maestro(["run", `${effects}2`, "--team", slowTeam, "--key", "k", ...at]);
  expect(other.code).toBe(2);
  expect(other.stderr).toContain("SESSION_CONFLICT");
});

test("a damaged checkpoint is exit 5, and a resume-free look still works", async () => {
  const { effects, at, folder } = place();
  await maestro(["run", effects, "--team", slowTeam, "--key", "k", ...at]);
  expect((await maestro(["checkpoints", "verify", "k", ...at])).code).toBe(0);
  const [id] = readdirSync(join(folder, "state/sessions"));
  const file = join(folder, "state/sessions", String(id), "checkpoint_first.json");
  writeFileSync(file, readFileSync(file, "utf8").replace("first done", "first gone"));
  const verified = await maestro(["checkpoints", "verify", "k", ...at]);
  expect(verified).toMatchObject({ code: 5 });
  expect(verified.stderr).toContain("CHECKPOINT_CORRUPT");
  expect((await maestro(["checkpoints", "verify", file])).code).toBe(5);
  expect((await maestro(["show", "k", ...at])).code).toBe(0);
});

test("the state directory is private", async () => {
  const { effects, at, folder } = place();
  await maestro(["run", effects, "--team", slowTeam, ...at]);
  expect(statSync(join(folder, "state")).mode & 0o777).toBe(0o700);
  expect(statSync(join(folder, "state/maestro.db")).mode & 0o777).toBe(0o600);
});

test.each([
  [["runn"], "run"],
  [["show", "nobody"], "SESSION_NOT_FOUND"],
  [["show", "../../etc/passwd"], "SESSION_NOT_FOUND"],
  [["run", "x", "--team", "missing.ts"], "TEAM_INVALID"],
  [["run", "--team", slowTeam], "There is no brief"],
  [["sessions", "--status", "runing"], 'Did you mean "running"'],
  [["prune", "--older-than", "soon"], "--older-than"],
  [["checkpoints", "verfy", "x"], 'Did you mean "verify"'],
])("wrong usage is exit 2 and says what is right: %j", async (args, text) => {
  const { at } = place();
  const { code, stderr, stdout } = await maestro([...args, ...at]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(text);
});

test("config prints each setting and where it came from", async () => {
  const { at } = place();
  const { stdout } = await maestro(["config", "--json", ...at], { MAESTRO_L1_MAX_ATTEMPTS: "5" });
  const settings = JSON.parse(stdout) as { key: string; value: unknown; origin: string }[];
  expect(settings).toContainEqual(
    expect.objectContaining({ key: "attempts.max", value: 5, origin: "environment MAESTRO_L1_MAX_ATTEMPTS" }),
  );
  expect(settings).toContainEqual(
    expect.objectContaining({ key: "rounds.max", value: 2, origin: "default" }),
  );
});
