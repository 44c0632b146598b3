import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { begin, inTerminal, json, lines, maestro, type Place, place, read } from "./support/packed.ts";

async function withTeam(more: Record<string, string> = {}): Promise<Place> {
  const at = place(more);
  await maestro(at, "init", "--yes", "--name", "hello", "--phases", "greeting,reply");
  return at;
}

const run = ["run", "Say hello", "--team", "hello.yaml", "--key", "k"];

function slowed(at: Place, latencyMs: number): Place {
  const script = join(at.folder, "script.json");
  writeFileSync(script, JSON.stringify({ latencyMs }));
  return { ...at, env: { ...at.env, MAESTRO_SIMULATED_SCRIPT: script } };
}

test("where the files go is remembered: a resume after a review brings the rest of them there", async () => {
  const at = await withTeam();
  expect((await maestro(at, ...run, "--pause-after", "greeting", "--out", "made")).code).toBe(4);
  expect(existsSync(join(at.folder, "made/docs/reply.md"))).toBe(false);
  await maestro(at, "approve", "k");
  // From another folder as well: what was said was said there.
  mkdirSync(join(at.folder, "other"));
  const elsewhere = { ...at, folder: join(at.folder, "other") };
  const resumed = await maestro(elsewhere, "resume", "k");
  expect(resumed).toMatchObject({ code: 0 });
  expect(resumed.stderr).toContain(`1 file written to ${join(at.folder, "made")}.`);
  expect(resumed.stderr).not.toContain("To get them");
  expect(read(at, "made/docs/reply.md")).toContain("# ");
});

test("where the files go is remembered when the process was killed before it wrote any", async () => {
  const at = await withTeam();
  const killed = begin(slowed(at, 20_000), [...run, "--out", "made"]);
  await vi.waitUntil(() => killed.output().includes("greeting_author: attempt started"), {
    timeout: 120_000,
  });
  killed.child.kill("SIGKILL");
  await killed.finished;
  expect((await maestro(at, "resume", "k")).code).toBe(0);
  expect(read(at, "made/docs/reply.md")).toContain("# ");
});

test("a folder that was moved since is not made again, and another one can be named", async () => {
  const at = await withTeam();
  await maestro(at, ...run, "--until", "greeting", "--out", "made");
  renameSync(join(at.folder, "made"), join(at.folder, "moved"));
  const resumed = await maestro(at, "resume", "k");
  expect(resumed).toMatchObject({ code: 0 });
  expect(resumed.stderr).toContain(
    `Its files were written to ${join(at.folder, "made")}, which no longer exists`,
  );
  expect(resumed.stderr).toContain("To get them: maestro show k --out <folder>");
  expect(existsSync(join(at.folder, "made"))).toBe(false);
  expect((await maestro(at, "resume", "k", "--out", "moved")).code).toBe(0);
  expect(read(at, "moved/docs/reply.md")).toContain("# ");
});

test("a second Ctrl-C exits now and prints the resume command; so does a step that cannot finish", async () => {
  const at = slowed(await withTeam(), 30_000);
  const twice = await inTerminal(at, [80, 24], run, [
    // Before a call is under way the first Ctrl-C has nothing to wait for, and ends the command.
    { when: "▶ greeting_author · asks simulated", send: "\u0003" },
    { when: "Ctrl-C stops now", send: "\u0003" },
  ]);
  expect(twice).toMatchObject({ code: 130, cursorHidden: false, stepsLeft: 0 });
  expect(twice.lines.join("\n")).toMatch(
    /Stopped\. No recorded step is lost\.\s+Resume with:\s+maestro resume/,
  );
});

test("a stop by the clock is said once, and after it nothing else", async () => {
  const at = slowed(await withTeam(), 60_000);
  const running = begin(at, run);
  await vi.waitUntil(() => running.output().includes("greeting_author: attempt started"), {
    timeout: 120_000,
  });
  const startedAt = Date.now();
  running.child.kill("SIGTERM");
  const { code, stderr } = await running.finished;
  expect(code).toBe(130);
  expect(Date.now() - startedAt).toBeLessThan(50_000);
  expect(stderr.match(/Resume with:\s+maestro resume/g)).toHaveLength(1);
});

test("a fork that would make nothing under the key it was given says so, exit 2", async () => {
  const at = await withTeam();
  await maestro(at, ...run);
  const limits = ["--budget-usd", "3", "--team", "hello.yaml"];
  const refused = await maestro(at, "fork", "k", "--at", "reply", "--key", "k2", "--out", "x y", ...limits);
  expect(refused).toMatchObject({ code: 2, stdout: "" });
  expect(refused.stderr).toMatch(
    /session "k2" is not created[^]*maestro fork k --at reply --fresh --team hello\.yaml --key k2 --budget-usd 3 --out 'x y'/,
  );
  const planned = await maestro(at, "fork", "k", "--at", "reply", "--key", "k2", "--dry-run");
  expect(planned).toMatchObject({ code: 0, stdout: "Nothing will run; --fresh reruns it.\n" });
  expect(planned.stderr).toContain("No session is created");
  expect(await json<unknown[]>(at, "sessions")).toHaveLength(1);
});

test("a known key with another model is refused before anything runs, with the command that resumes with that model", async () => {
  const at = await withTeam();
  expect((await maestro(at, ...run, "--until", "greeting")).code).toBe(0);
  const keyed = { ...at, env: { ...at.env, OPENAI_API_KEY: "a-key-of-no-use" } };
  const other = await maestro(keyed, ...run, "--model", "openai/gpt-5");
  expect(other).toMatchObject({ code: 2, stdout: "" });
  expect(other.stderr).toContain("Or resume it with that model:\n  maestro resume k --model openai/gpt-5");
  expect(await json(at, "show", "k")).toMatchObject({ status: "paused" });
});

test("an edit is a file of the session: what rests on it reads it", async () => {
  const at = await withTeam();
  await maestro(at, ...run, "--pause-after", "greeting", "--out", "made");
  writeFileSync(join(at.folder, "made/docs/greeting.md"), "# By hand\n");
  const edited = await maestro(at, "resume", "k", "--edit", "greeting=made/docs/greeting.md");
  expect(edited).toMatchObject({ code: 0 });
  const forked = ["fork", "k", "--at", "reply", "--key", "f", "--edit", "greeting=nothing.md"];
  writeFileSync(join(at.folder, "nothing.md"), "");
  const refused = await maestro(at, ...forked);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toMatch(/nothing\.md[^]*docs\/greeting\.md/);
  expect((await maestro(at, "show", "k", "--out", "seen")).code).toBe(0);
  expect(read(at, "seen/docs/greeting.md")).toBe("# By hand\n");
});

test("the brief - is read from standard input; nothing there is no brief", async () => {
  const at = await withTeam();
  const piped = begin(at, ["run", "-", "--team", "hello.yaml", "--key", "k"], "Say hello\nto everybody\n");
  expect(await piped.finished).toMatchObject({ code: 0 });
  expect(await json(at, "show", "k")).toMatchObject({ brief: "Say hello\nto everybody" });
  const empty = await begin(at, ["run", "-", "--team", "hello.yaml"], " \n").finished;
  expect(empty).toMatchObject({ code: 2, stdout: "" });
  expect(empty.stderr).toContain("The brief is empty.");
  const broken = begin(at, ["run", "-", "--team", "hello.yaml"], Buffer.from([0xff, 0xfe, 0x41]));
  expect((await broken.finished).stderr).toContain("not UTF-8 text");
});

test("checkpoints verify: an export is whole, damaged, or no export at all", async () => {
  const at = await withTeam();
  await maestro(at, ...run);
  await maestro(at, "checkpoints", "export", "k", "k.maestro");
  const whole = await json<{ valid: boolean }[]>(at, "checkpoints", "verify", "k.maestro");
  expect(whole.map(({ valid }) => valid)).toEqual([true, true, true]);
  const bytes = readFileSync(join(at.folder, "k.maestro"));
  bytes[100] = (bytes[100] ?? 0) ^ 0xff;
  writeFileSync(join(at.folder, "k.maestro"), bytes);
  const damaged = await maestro(at, "checkpoints", "verify", "k.maestro");
  expect(damaged.code).toBe(5);
  expect(damaged.stderr).toMatch(/k\.maestro is damaged[^]*checkpoints export[^]*CHECKPOINT_CORRUPT/);
  writeFileSync(join(at.folder, "package.json"), '{"name":"mine"}');
  for (const file of ["hello.yaml", "package.json"]) {
    const other = await maestro(at, "checkpoints", "verify", file);
    expect(other.code).toBe(2);
    expect(other.stderr).toContain("neither a checkpoint nor an export");
  }
});

test("checkpoints verify: a damaged checkpoint is one under any name", async () => {
  const at = await withTeam();
  await maestro(at, ...run);
  const { id } = await json<{ id: string }>(at, "show", "k");
  const bytes = readFileSync(
    join(at.env["MAESTRO_STATE_DIR"] ?? "", "sessions", id, "checkpoint_greeting.json"),
  );
  bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
  writeFileSync(join(at.folder, "mine.json"), bytes);
  expect((await maestro(at, "checkpoints", "verify", "mine.json")).code).toBe(5);
});

test("a key that looks like the id of a session is refused", async () => {
  const at = await withTeam();
  await maestro(at, ...run);
  const { id } = await json<{ id: string }>(at, "show", "k");
  for (const command of [
    ["run", "Other", "--team", "hello.yaml", "--key", id],
    ["fork", "k", "--at", "reply", "--fresh", "--key", id],
  ]) {
    const { code, stderr } = await maestro(at, ...command);
    expect(code).toBe(2);
    expect(stderr).toContain("looks like the id of a session");
  }
});

test("a command that a finished session cannot follow names the commands that it can", async () => {
  const at = await withTeam();
  await maestro(at, ...run);
  for (const command of [
    ["approve", "k"],
    ["reject", "k", "--note", "x"],
    ["pause", "k"],
    ["cancel", "k"],
  ]) {
    const { code, stderr } = await maestro(at, ...command, "--state-dir", "state");
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /nothing to [a-z]+\.\n.*\n {2}maestro show \S+ --state-dir state\n[^]*maestro fork \S+ --at <phase> --state-dir state\n/,
    );
  }
});

test("a wrong configuration is said once, with what to do, by doctor as by every command", async () => {
  const at = place({ MAESTRO_L1_MAX_ATTEMPTS: "many" });
  const { stdout, code } = await maestro(at, "doctor", "--offline");
  expect(code).toBe(2);
  expect(stdout.match(/MAESTRO_L1_MAX_ATTEMPTS/g)).toHaveLength(1);
  expect(stdout).toMatch(/✘ configuration: [^]*→ Correct it where it is set/);
  expect(stdout).toContain("1 thing to fix first.");
  expect(lines((await maestro(at, "sessions")).stderr)).toHaveLength(3);
});

test("a folder that cannot be made is an error at once", async () => {
  const at = await withTeam();
  await maestro(at, ...run);
  for (const command of [
    ["show", "k", "--out", "/proc/x"],
    ["show", "k", "--out", "/proc/x/y"],
    ["demo", "--out", "/proc/x/y"],
  ]) {
    const { code, stderr } = await maestro(at, ...command);
    expect(code).toBeGreaterThan(1);
    expect(stderr).toMatch(/\/proc\/x/);
  }
});

test("help of what is not a command names the closest one", async () => {
  const { code, stdout, stderr } = await maestro(place(), "help", "shwo");
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toMatch(/Did you mean "show"\?[^]*\(INPUT_INVALID\)/);
  expect((await maestro(place(), "help", "show")).code).toBe(0);
});

test("on 40 columns nothing breaks within a word: reports, sums and errors", async () => {
  const at = await withTeam();
  await maestro(at, ...run);
  const usage = await inTerminal(at, [40, 40], ["usage", "--session", "k"]);
  expect(usage).toMatchObject({ code: 0, wrapped: 0 });
  expect((await inTerminal(at, [80, 40], ["usage"])).lines.join("\n")).toMatch(/^greeting_author .*█/m);
  expect(usage.lines.join("\n")).toMatch(/^Together: 1,\d{3} tokens in 4 calls/m);
  const refused = await inTerminal(at, [40, 40], ["usage", "--by", "persna"]);
  expect(refused).toMatchObject({ code: 2, wrapped: 0 });
  expect(refused.lines.join("\n")).toMatch(/Error: --by is "persna"\. Did you mean\n"persona"\?/);
});

test("at a review it is said what comes first, and what after that", async () => {
  const at = await withTeam();
  const parked = await maestro(at, ...run, "--pause-after", "greeting");
  expect(parked.stderr).toMatch(
    / {2}maestro approve k\n[^\n]*\n {2}maestro reject k [^]*\nThen resume with: maestro resume k\n/,
  );
});

test("a list without a database names a session that its checkpoints can bring back", async () => {
  const at = await withTeam();
  expect((await maestro(at, ...run, "--until", "greeting")).code).toBe(0);
  for (const suffix of ["", "-wal", "-shm"])
    rmSync(join(at.env.MAESTRO_STATE_DIR ?? "", `maestro.db${suffix}`), { force: true });
  const { stderr } = await maestro(at, "sessions");
  expect(stderr).toContain("1 session has files but is not in the database");
  expect(stderr).toMatch(/Bring one back: maestro resume [0-9a-z]{26}/);
  expect(stderr).not.toContain("No sessions yet");
});
