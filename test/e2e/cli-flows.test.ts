import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { json, lines, maestro, type Place, place, read } from "./support/packed.ts";
import {
  checkpointsSchema,
  eventSchema,
  resultSchema,
  sessionsSchema,
  showSchema,
  usageSchema,
} from "./support/schemas.ts";

async function withTeam(more: Record<string, string> = {}): Promise<Place> {
  const at = place(more);
  await maestro(at, "init", "--yes", "--name", "hello", "--phases", "greeting,reply,farewell");
  return at;
}

const databaseFiles = ["maestro.db", "maestro.db-wal", "maestro.db-shm"];
const run = ["run", "Say hello", "--team", "hello.yaml", "--key", "k"];

test("JSON: every document and every event is what the interface promises, the last line of a run its result", async () => {
  const at = await withTeam();
  const { stdout, code } = await maestro(at, ...run, "--json");
  expect(code).toBe(0);
  const events = lines(stdout).map((line) => JSON.parse(line) as unknown);
  resultSchema.parse(events.at(-1));
  for (const event of events.slice(0, -1)) eventSchema.parse(event);
  expect(showSchema.parse(await json(at, "show", "k")).artifacts).toHaveLength(3);
  expect(sessionsSchema.parse(await json(at, "sessions"))[0]?.usage.calls).toBe(6);
  expect(checkpointsSchema.parse(await json(at, "checkpoints", "k"))).toHaveLength(4);
  const usage = usageSchema.parse(await json(at, "usage", "--session", "k", "--by", "phase"));
  expect(usage.rows.map(({ name }) => name).sort()).toEqual(["farewell", "greeting", "reply"]);
  const watched = lines((await maestro(at, "watch", "k", "--json")).stdout).map(
    (line) => JSON.parse(line) as unknown,
  );
  resultSchema.parse(watched.at(-1));
  expect(watched).toEqual(expect.arrayContaining(events.slice(0, -1)));
});

test("review: parks with exit 4 and says what to do; a rejected phase runs again with the note, an approved session resumes", async () => {
  const at = await withTeam();
  const parked = await maestro(at, ...run, "--pause-after", "greeting");
  expect(parked.code).toBe(4);
  expect(parked.stderr).toContain("Why it stopped: Phase greeting waits for review.");
  expect(parked.stderr).toContain("  maestro approve k\n");
  expect((await maestro(at, "resume", "k")).code).toBe(4);
  const rejected = await maestro(at, "reject", "k", "--note", "warmer, please");
  expect(rejected).toMatchObject({ code: 0 });
  expect(rejected.stderr).toContain("Resume with: maestro resume k");
  expect((await maestro(at, "resume", "k")).code).toBe(4);
  expect((await maestro(at, "show", "k")).stdout).toContain("rejected: warmer, please");
  expect((await maestro(at, "approve", "k", "--note", "good")).code).toBe(0);
  expect((await maestro(at, "resume", "k")).code).toBe(0);
});

test("a phase alone beside one that waits for review is done with exit 0, and the other still waits", async () => {
  const one = (name: string, more = "") => `  - { name: ${name}, ${more}personas: [p${name}] }`;
  const works = (name: string) => `  p${name}: { command: [sh, -c, echo done], network: false }`;
  const waits = "dependsOn: [a], review: true, ";
  const phases = [one("a"), one("b", waits), one("c", waits), one("d", "dependsOn: [a], ")];
  const team = ["name: beside", "phases:", ...phases, "personas:", ...["a", "b", "c", "d"].map(works), ""];
  const at = place();
  writeFileSync(join(at.folder, "beside.yaml"), team.join("\n"));
  expect((await maestro(at, "run", "x", "--team", "beside.yaml", "--key", "k")).code).toBe(4);
  expect((await maestro(at, "phase", "k", "d")).code).toBe(0);
  const both = await maestro(at, "phase", "k", "c");
  expect(both.code).toBe(4);
  expect(both.stderr).toContain("  maestro approve k --phase b\n");
  expect((await maestro(at, "approve", "k", "--phase", "b")).code).toBe(0);
  const last = await maestro(at, "approve", "k");
  expect(last.code).toBe(0);
  expect(last.stderr).not.toContain("still to do");
  expect((await maestro(at, "resume", "k")).code).toBe(0);
});

test("an edit counts as approval, and what rests on it reads the edit", async () => {
  const at = await withTeam();
  await maestro(at, ...run, "--pause-after", "greeting");
  writeFileSync(join(at.folder, "edit.json"), '{"files": {"docs/greeting.md": "# By hand\\n"}}');
  const resumed = await maestro(at, "resume", "k", "--edit", "greeting=edit.json", "--out", "out");
  expect(resumed).toMatchObject({ code: 0 });
  expect(read(at, "out/docs/greeting.md")).toBe("# By hand\n");
  writeFileSync(join(at.folder, "late.json"), '{"files": {"docs/greeting.md": "# Too late\\n"}}');
  const late = await maestro(at, "resume", "k", "--edit", "greeting=late.json");
  expect(late.code).toBe(2);
  expect(late.stderr).toContain("maestro fork");
});

test("budget: parks with exit 4 before the limit, prints the command that raises it, and resumes", async () => {
  const at = await withTeam();
  const parked = await maestro(at, ...run, "--budget-tokens", "5k");
  expect(parked.code).toBe(4);
  const [proposal] = /maestro budget k .*/.exec(parked.stderr) ?? [""];
  const raised = await maestro(at, ...proposal.split(" ").slice(1));
  expect(raised).toMatchObject({ code: 0 });
  expect(raised.stdout).toMatch(/session .* tokens/);
  expect((await maestro(at, "resume", "k")).code).toBe(0);
  const view = showSchema.parse(await json(at, "show", "k"));
  expect(view.budgets).toContainEqual(expect.objectContaining({ level: "session" }));
});

test("fork: says beforehand what is reused and what it may cost; without an edit nothing runs", async () => {
  const at = await withTeam();
  await maestro(at, ...run);
  const same = await maestro(at, "fork", "k", "--at", "reply");
  expect(same).toMatchObject({ code: 0, stdout: "Nothing will run; --fresh reruns it.\n" });
  expect(sessionsSchema.parse(await json(at, "sessions"))).toHaveLength(1);
  writeFileSync(
    join(at.folder, "edit.json"),
    '{"outputs": {"tone": "warm"}, "files": {"docs/greeting.md": "# Other\\n"}}',
  );
  const edited = ["fork", "k", "--at", "reply", "--edit", "greeting=edit.json", "--key", "k2"];
  const planned = await maestro(at, ...edited, "--dry-run");
  expect(planned.stderr).toMatch(/Kept: greeting\/greeting_author\nRuns: reply\/reply_author/);
  expect(planned.stderr).toMatch(/Estimated cost: .* tokens, \$/);
  const forked = await json<{ status: string; plan: unknown }>(at, ...edited);
  expect(forked).toMatchObject({ status: "completed", plan: { personas: expect.any(Array) as unknown } });
  const view = showSchema.parse(await json(at, "show", "k2"));
  expect(view.usage.calls).toBe(4);
  expect(view["fork"]).toMatchObject({ at: "reply" });
});

test("part of a session: until and only leave the rest to a resume; from needs what comes before, or has it given", async () => {
  const at = await withTeam();
  expect(await maestro(at, ...run, "--until", "greeting")).toMatchObject({ code: 0 });
  expect(showSchema.parse(await json(at, "show", "k"))).toMatchObject({
    status: "paused",
    phases: [{ status: "completed" }, { status: "pending" }, { status: "pending" }],
  });
  expect(await json(at, "phase", "k", "reply")).toMatchObject({ status: "paused" });
  expect((await maestro(at, "resume", "k")).code).toBe(0);
  const from = ["run", "Other", "--team", "hello.yaml", "--from", "reply", "--key", "g"];
  const missing = await maestro(at, ...from);
  expect(missing.code).toBe(2);
  expect(missing.stderr).toContain("--given greeting=");
  expect((await maestro(at, "show", "g")).code, "a refused start leaves no session behind").toBe(2);
  mkdirSync(join(at.folder, "given/docs"), { recursive: true });
  writeFileSync(join(at.folder, "given/docs/greeting.md"), "# Given\n");
  expect((await maestro(at, ...from, "--given", "greeting=given", "--out", "out")).code).toBe(0);
  expect(read(at, "out/docs/greeting.md")).toBe("# Given\n");
});

test("a changed team: says what changed, exit 2; with --accept-changes unchanged personas keep their results", async () => {
  const at = await withTeam();
  await maestro(at, ...run, "--until", "reply");
  const file = join(at.folder, "hello.yaml");
  writeFileSync(file, readFileSync(file, "utf8").replace("Do the reply", "Do another reply"));
  const refused = await maestro(at, "resume", "k");
  expect(refused.code).toBe(2);
  expect(refused.stderr).toMatch(/reply_author[^]*resume \S+ --accept-changes[^]*TEAM_CHANGED/);
  const typed = await maestro(at, "resume", "k", "--team", "hello.yaml");
  expect(typed.stderr).toMatch(/ {2}maestro resume \S+ --accept-changes --team hello\.yaml\n/);
  expect((await maestro(at, "resume", "k", "--accept-changes")).code).toBe(0);
  const { usage } = showSchema.parse(await json(at, "show", "k"));
  expect(usage.calls, "greeting 2, reply 2 and again 2, farewell 2").toBe(8);
});

test("checkpoints restore brings back sealed work that an older database does not know", async () => {
  const at = await withTeam();
  const state = join(at.folder, "state");
  const env = { ...at, env: { ...at.env, MAESTRO_STATE_DIR: state } };
  await maestro(env, ...run, "--until", "greeting");
  for (const name of databaseFiles)
    if (existsSync(join(state, name))) copyFileSync(join(state, name), join(at.folder, name));
  await maestro(env, "resume", "k");
  for (const name of databaseFiles) {
    rmSync(join(state, name), { force: true });
    if (existsSync(join(at.folder, name))) copyFileSync(join(at.folder, name), join(state, name));
  }
  const refused = await maestro(env, "resume", "k");
  expect(refused.code).toBe(2);
  expect(refused.stderr).toMatch(/The database is older[^]* {2}maestro checkpoints restore \S+\n/);
  const shown = await maestro(env, "show", "k");
  expect(shown.stdout).toMatch(/does not know checkpoint_reply\.json[^]*maestro checkpoints restore k/);
  const restored = await maestro(env, "checkpoints", "restore", "k");
  expect(restored.code).toBe(0);
  expect(restored.stdout).toMatch(/^Restored 2 checkpoints of session \S+: checkpoint_reply\.json, /);
  expect((await maestro(env, "resume", "k")).code).toBe(0);
  const { status, usage } = showSchema.parse(await json(env, "show", "k"));
  expect({ status, calls: usage.calls }, "three phases, two calls each, none twice").toEqual({
    status: "completed",
    calls: 6,
  });
});

const demandsThen = (next: RegExp): RegExp =>
  new RegExp(`farewell_author sends the brief and its files to [^]*${next.source}`);

test("checkpoints move to another machine in one file, and the session resumes there", async () => {
  const at = await withTeam();
  await maestro(at, ...run, "--until", "reply");
  const exported = await maestro(at, "checkpoints", "export", "k", "k.maestro");
  expect(exported).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("npx maestro-hive checkpoints import k.maestro"),
  });
  expect((await maestro(at, "checkpoints", "import", "k.maestro")).code, "it is here already").toBe(2);
  const other = { ...at, env: { ...at.env, MAESTRO_STATE_DIR: join(at.folder, "elsewhere") } };
  const imported = await maestro(other, "checkpoints", "import", "k.maestro");
  expect(imported.code).toBe(0);
  expect(imported.stderr).toMatch(
    /farewell_author sends the brief and its files to[^]* resume \S+ --trust\n/,
  );
  for (const act of [
    ["resume", "k"],
    ["phase", "k", "farewell"],
    ["fork", "k", "--at", "farewell"],
  ]) {
    const refused = await maestro(other, ...act);
    expect(refused.code, act.join(" ")).toBe(2);
    expect(refused.stderr).toMatch(/ {2}maestro resume \S+ --trust\n[^]*NOT_TRUSTED/);
  }
  expect((await maestro(other, "show", "k")).stdout).toContain("no person has trusted it");
  // The path of its team file is one of the other machine: whatever is there now is not loaded.
  writeFileSync(join(at.folder, "hello.yaml"), "name: another");
  const trusted = await maestro(other, "resume", "k", "--trust", "--out", "out");
  expect(trusted.code).toBe(0);
  expect(trusted.stderr).toMatch(demandsThen(/farewell: started/));
  expect(read(at, "out/docs/greeting.md")).toContain("# ");
  const { phases } = showSchema.parse(await json(other, "show", "k"));
  expect(phases.map(({ status }) => status)).toEqual(["completed", "completed", "completed"]);
  expect((await maestro(other, "resume", "k", "--trust")).stderr, "it is trusted already").not.toContain(
    "sends the brief",
  );
  const third = { ...at, env: { ...at.env, MAESTRO_STATE_DIR: join(at.folder, "third") } };
  const both = await maestro(third, "checkpoints", "import", "k.maestro", "--trust");
  expect(both.stderr).toMatch(demandsThen(/Resume with: maestro resume/));
});

test("an export replaces an earlier export of its session, and no other file", async () => {
  const at = await withTeam();
  await maestro(at, ...run, "--until", "reply");
  const exportTo = (file: string, key = "k") => maestro(at, "checkpoints", "export", key, file);
  expect((await exportTo("k.maestro")).code).toBe(0);
  await maestro(at, "resume", "k");
  const half = readFileSync(join(at.folder, "k.maestro"));
  expect((await exportTo("k.maestro")).code).toBe(0);
  expect(readFileSync(join(at.folder, "k.maestro")).equals(half)).toBe(false);

  await maestro(at, "run", "Say hello", "--team", "hello.yaml", "--key", "other");
  expect((await exportTo("other.maestro", "other")).code).toBe(0);
  symlinkSync("nowhere", join(at.folder, "link"));
  for (const file of ["hello.yaml", "other.maestro"]) {
    const before = readFileSync(join(at.folder, file));
    const refused = await exportTo(file);
    expect(refused).toMatchObject({ code: 2, stdout: "" });
    expect(refused.stderr).toMatch(/already exists[^]*Name another file/);
    expect(readFileSync(join(at.folder, file)).equals(before)).toBe(true);
  }
  expect((await exportTo("link")).code, "a link to no file").toBe(2);
});

test("the import of a completed session offers to show it, and asks for no trust", async () => {
  const at = await withTeam();
  await maestro(at, ...run);
  await maestro(at, "checkpoints", "export", "k", "k.maestro");
  const other = { ...at, env: { ...at.env, MAESTRO_STATE_DIR: join(at.folder, "elsewhere") } };
  const { code, stderr } = await maestro(other, "checkpoints", "import", "k.maestro");
  expect(code).toBe(0);
  expect(stderr).toMatch(/^It is completed\. See it with: maestro show \S+\n$/);
});

test.each([
  ["nothing in it", ""],
  ["something else", "hello"],
])("an import with %s is refused, exit 2", async (_, content) => {
  const at = place();
  writeFileSync(join(at.folder, "x.maestro"), content);
  const refused = await maestro(at, "checkpoints", "import", "x.maestro");
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain("is not an export of a session");
});

test("doctor says what is wrong and how to mend it, and never prints a key", async () => {
  const secret = "sk-very-secret";
  const at = place({ ANTHROPIC_API_KEY: secret, ANTHROPIC_BASE_URL: "http://127.0.0.1:9" });
  const { code, stdout, stderr } = await maestro(at, "doctor");
  expect(code).toBe(0);
  expect(stdout).toMatch(/anthropic: ANTHROPIC_API_KEY is set; 127\.0\.0\.1:9 does not answer/);
  expect(stdout + stderr).not.toContain(secret);
  const broken = place({ MAESTRO_L1_MAX_ATTEMPTS: "many" });
  expect((await maestro(broken, "doctor", "--offline")).code).toBe(2);
});
