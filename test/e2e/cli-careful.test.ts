import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { maestro, type Place, packageFolder, place } from "./support/packed.ts";

const entry = join(packageFolder, "bin/maestro.cjs");

async function withTeam(): Promise<Place> {
  const at = place();
  await maestro(at, "init", "--yes", "--name", "hello", "--phases", "greeting,reply");
  return at;
}

const run = ["run", "Say hello", "--team", "hello.yaml", "--key", "k"];

/** One that ended and was not waited for yet has no command line any more. */
function isAlive(pid: string): boolean {
  const file = `/proc/${pid}/cmdline`;
  return existsSync(file) && readFileSync(file, "utf8") !== "";
}

async function sessionsIn(at: Place): Promise<{ key: string; status: string; abandoned: boolean }[]> {
  return JSON.parse((await maestro(at, "sessions", "--json")).stdout);
}

test.each([
  ["standard output", `--json | head -n 1 >/dev/null`],
  ["standard error", `2>&1 >/dev/null | head -n 1 >/dev/null`],
])("a run whose reader goes away on %s is finished all the same", async (_, pipe) => {
  const at = await withTeam();
  const command = `"${process.execPath}" "${entry}" run "Say hello" --team hello.yaml --key k ${pipe}; echo "\${PIPESTATUS[0]}"`;
  const out = execFileSync("bash", ["-c", command], { cwd: at.folder, env: at.env, encoding: "utf8" });
  expect(out.trim()).toBe("0");
  expect(await sessionsIn(at)).toMatchObject([{ key: "k", status: "completed", abandoned: false }]);
});

test.each([
  ["resume", ["resume", "k"]],
  ["phase", ["phase", "k", "reply"]],
  ["fork", ["fork", "k", "--at", "greeting", "--fresh"]],
])("%s with a model that cannot be had is wrong usage, and no attempt is used up", async (_, command) => {
  const at = await withTeam();
  await maestro(at, ...run, "--until", "greeting");
  for (const model of ["nonsense", "openai/gpt-5"]) {
    const { code, stderr } = await maestro(at, ...command, "--model", model);
    expect({ code, stderr }).toMatchObject({ code: 2 });
  }
  expect(await sessionsIn(at)).toMatchObject([{ key: "k", status: "paused" }]);
  expect((await maestro(at, "tickets", "--json")).stdout).toBe("[]\n");
});

test("a folder that cannot take the files is refused before anything runs", async () => {
  const at = await withTeam();
  writeFileSync(join(at.folder, "taken"), "");
  expect(await maestro(at, ...run, "--out", "/proc/nothing")).toMatchObject({ code: 2 });
  for (const command of [run, ["demo"], ["phase", "k", "greeting"]]) {
    const { code, stderr } = await maestro(at, ...command, "--out", "taken");
    expect(code).toBe(2);
    expect(stderr).toMatch(/taken: it is not a folder/);
  }
  expect(await sessionsIn(at)).toEqual([]);
});

test("a selection that leaves no phase, and an empty one, is refused before there is a session", async () => {
  const at = await withTeam();
  for (const flags of [
    ["--from", "reply", "--until", "greeting"],
    ["--only", "greeting", "--from", "reply"],
    ["--only", ""],
    ["--pause-after", ","],
  ])
    expect((await maestro(at, ...run, ...flags)).code).toBe(2);
  expect(await sessionsIn(at)).toEqual([]);
});

test("a key alone resumes the session with its team, brief and model", async () => {
  const at = await withTeam();
  await maestro(at, ...run, "--until", "greeting");
  expect((await maestro(at, "run", "--key", "k")).code).toBe(0);
  expect(await sessionsIn(at)).toMatchObject([{ key: "k", status: "completed" }]);
});

test("the events of a run begin with its creation, those of a resume with its claim", async () => {
  const at = await withTeam();
  const eventsOf = (stdout: string): { kind: string; seq?: number }[] =>
    stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
  const first = eventsOf((await maestro(at, ...run, "--until", "greeting", "--json")).stdout);
  expect(first.slice(0, 2).map(({ kind, seq }) => [kind, seq])).toEqual([
    ["session.created", 1],
    ["session.claimed", 2],
  ]);
  const second = eventsOf((await maestro(at, "resume", "k", "--json")).stdout);
  expect(second[0]?.kind).toBe("session.claimed");
  const watched = eventsOf((await maestro(at, "watch", "k", "--json")).stdout);
  const numbered = [...first, ...second].filter(({ seq }) => seq !== undefined);
  expect(numbered).toEqual(watched.filter(({ seq }) => seq !== undefined).slice(0, numbered.length));
});

test("a run in the background that cannot begin ends here as it ended there", async () => {
  const at = await withTeam();
  const begun = await maestro(at, ...run, "--detach", "--json");
  const { id } = JSON.parse(begun.stdout) as { id: string };
  await maestro(at, "watch", id);
  const other = await maestro(at, "run", "Something else", "--team", "hello.yaml", "--key", "k", "--detach");
  expect(other).toMatchObject({ code: 2, stdout: "" });
  expect(other.stderr).toContain("SESSION_CONFLICT");
  const wrong = await maestro(at, "run", "x", "--team", "hello.yaml", "--only", "nosuch", "--detach");
  expect(wrong.code).toBe(2);
  const long = await maestro(at, "run", "x", "--team", "hello.yaml", "--key", "k".repeat(5_000), "--detach");
  expect(long.code).toBe(2);
  const beginning = await maestro(
    at,
    "run",
    "x",
    "--team",
    "hello.yaml",
    "--key",
    id.slice(0, 24),
    "--detach",
  );
  expect(beginning.code).toBe(2);
  expect(beginning.stderr).toContain(`is the beginning of the id of session ${id}.`);
});

test("the demo is the same whatever a person has set, and SIGTERM leaves no process behind", async () => {
  const at = place();
  mkdirSync(at.folder, { recursive: true });
  writeFileSync(join(at.folder, "maestro.config.yaml"), "nonsense: 1\n");
  const own = join(at.env["XDG_CONFIG_HOME"] ?? "", "maestro");
  mkdirSync(own, { recursive: true });
  writeFileSync(join(own, "config.yaml"), "nonsense: 1\n");
  const env = { ...at.env, MAESTRO_TOKEN_BUDGET: "10", MAESTRO_MODEL: "nonsense" };
  const child = spawn(process.execPath, [entry, "demo", "--out", "here"], { cwd: at.folder, env });
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => {
    said += chunk.toString();
  });
  await expect.poll(() => said, { timeout: 120_000 }).toContain("sealed revision");
  const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8").trim();
  expect(children).not.toBe("");
  child.kill("SIGTERM");
  const [code] = (await once(child, "close")) as [number];
  expect(code).toBe(130);
  expect(said, "started by its path, it is resumed by its path").toMatch(
    /Resume with: .*node .*maestro\.cjs resume/,
  );
  await expect.poll(() => children.split(" ").filter(isAlive)).toEqual([]);
});

test.each([
  ["phases that are there twice", ["--phases", "a,a"]],
  ["a model that is none", ["--model", "x: y"]],
  ["no phases", ["--phases", ","]],
])("init refuses %s and writes nothing", async (_, flags) => {
  const at = place();
  expect((await maestro(at, "init", "--yes", "--name", "t", ...flags)).code).toBe(2);
  expect(existsSync(join(at.folder, "t.yaml"))).toBe(false);
});

test("names that YAML would read as other values stay names", async () => {
  const at = place();
  expect((await maestro(at, "init", "--yes", "--name", "null", "--phases", "true,no")).code).toBe(0);
  expect((await maestro(at, "run", "Say hello", "--team", "null.yaml")).code).toBe(0);
});

test("keys with dots are sessions, folders and missing files are not checkpoints", async () => {
  const at = await withTeam();
  await maestro(at, "run", "Say hello", "--team", "hello.yaml", "--key", "v1.2");
  expect((await maestro(at, "checkpoints", "verify", "v1.2")).code).toBe(0);
  mkdirSync(join(at.folder, "v1.2"));
  expect((await maestro(at, "checkpoints", "verify", "v1.2")).code, "a folder beside has its name").toBe(0);
  for (const word of [".", "gone.json", "verify"])
    expect((await maestro(at, "checkpoints", "verify", word)).code).toBe(2);
  const alone = await maestro(at, "checkpoints", "verify");
  expect(alone.stderr).toContain("checkpoints verify needs a session or a file.");
});

test("limits that make no sense are refused, and one below what is used says what it means", async () => {
  const at = await withTeam();
  await maestro(at, ...run);
  expect((await maestro(at, "budget", "k", "--usd", "0.0000001")).code).toBe(2);
  expect((await maestro(at, "budget", "k", "--persona", "greeting_autor")).stderr).toContain(
    "greeting_author",
  );
  expect((await maestro(at, "budget", "k", "--tokens", "1")).stderr).toContain(
    "below the amount already used",
  );
  for (const command of [
    ["watch", "k", "--after", "abc"],
    ["prune", "--keep", "1.5"],
    ["usage", "--since", "2026-02-31"],
    ["sessions", "--limit", "abc"],
  ]) {
    const { code, stderr } = await maestro(at, ...command);
    expect(code).toBe(2);
    // The message, the advice and the code.
    expect(stderr.trim().split("\n")).toHaveLength(3);
  }
  const served = await maestro(at, "serve", "--port", "abc");
  expect(served.stderr).toContain("(flag --port)");
});

test("commands about existing sessions create no state directory", async () => {
  const at = place();
  for (const command of [
    ["sessions"],
    ["usage"],
    ["breakers"],
    ["tickets"],
    ["prune"],
    ["doctor", "--offline"],
    ["sessions", "--names"],
  ])
    expect(await maestro(at, ...command), command.join(" ")).toMatchObject({ code: 0 });
  for (const command of [
    ["show", "k"],
    ["watch", "k"],
    ["checkpoints", "k"],
    ["resume", "k"],
    ["phase", "k", "a"],
    ["fork", "k", "--at", "a"],
    ["approve", "k"],
    ["pause", "k"],
    ["budget", "k"],
  ]) {
    const { code, stderr } = await maestro(at, ...command);
    expect({ command, code }).toEqual({ command, code: 2 });
    expect(stderr).toMatch(/state directory .* does not exist\.[^]*\(SESSION_NOT_FOUND\)/);
  }
  expect(existsSync(join(at.folder, "state"))).toBe(false);
  mkdirSync(join(at.folder, "other"));
  await maestro(at, "sessions", "--state-dir", "other");
  expect(readdirSync(join(at.folder, "other"))).toEqual([]);
});

test("a remembered folder that is no longer writable stops a resume before anything runs", async () => {
  const at = await withTeam();
  await maestro(at, ...run, "--until", "greeting", "--out", "files");
  rmSync(join(at.folder, "files"), { recursive: true });
  writeFileSync(join(at.folder, "files"), "");
  const { code, stderr } = await maestro(at, "resume", "k");
  expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining("it is not a folder") });
  expect(await sessionsIn(at)).toMatchObject([{ key: "k", status: "paused" }]);
  expect(await maestro(at, "resume", "k", "--out", "new/below")).toMatchObject({ code: 0 });
  expect(readdirSync(join(at.folder, "new/below"))).toContain("docs");
});

test("typed text cannot send control characters to the terminal", async () => {
  const { stderr } = await maestro(place(), "show", "a\u001b[31mb");
  expect(stderr).not.toContain("\u001b");
});

test("doctor proves files against their hashes, and says how many sessions it read", async () => {
  const at = await withTeam();
  await maestro(at, ...run);
  const well = await maestro(at, "doctor", "--offline");
  expect(well).toMatchObject({ code: 0 });
  expect(well.stdout).toMatch(/\d+ rows and [1-9]\d* files of 1 session verified/);
  const artifacts = join(at.folder, "state/artifacts");
  const { artifacts: files } = JSON.parse((await maestro(at, "show", "k", "--json")).stdout) as {
    artifacts: { sha256: string }[];
  };
  const { sha256 = "" } = files[0] ?? {};
  writeFileSync(join(artifacts, sha256.slice(0, 2), sha256), "something else");
  const ill = await maestro(at, "doctor", "--offline");
  expect(ill.code).toBe(5);
  expect(ill.stdout).toContain(sha256);
});

test.each([
  ["hello.yaml", /^# yaml-language-server: \$schema=(\S+)\n/],
  ["hello.json", /^\{\n {2}"\$schema": "(\S+)",\n/],
])("init writes %s with a pointer to the schema that comes with the package", async (file, pointer) => {
  const at = place();
  mkdirSync(join(at.folder, "node_modules"));
  symlinkSync(packageFolder, join(at.folder, "node_modules/maestro-hive"));
  await maestro(at, "init", "--yes", "--name", "hello", "--phases", "greeting", "--out", file);
  const [, address = ""] = pointer.exec(readFileSync(join(at.folder, file), "utf8")) ?? [];
  const schema = new URL(address, pathToFileURL(join(at.folder, file)));
  expect(JSON.parse(readFileSync(schema, "utf8"))).toMatchObject({ title: "Maestro team file" });
  expect((await maestro(at, "run", "Say hello", "--team", file)).code).toBe(0);
});
