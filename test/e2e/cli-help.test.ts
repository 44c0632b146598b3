import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { buildProgram } from "../../src/cli/program.ts";
import { begin, lines, maestro, type Place, packageFolder, place } from "./support/packed.ts";

const entry = join(packageFolder, "bin/maestro.cjs");
const made = new Map<string, Promise<string>>();
const folder = mkdtempSync(join(tmpdir(), "maestro-examples-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The story as far as it goes before an example; made once, and every test gets a copy of its own. */
async function ready(name: string): Promise<Place> {
  const at = place();
  const story = storyBefore(name);
  const kind = story.join(" ");
  const template = made.get(kind) ?? prepare(story);
  made.set(kind, template);
  cpSync(await template, at.folder, { recursive: true });
  return at;
}

const storyBefore = (name: string): readonly string[] =>
  name === "init"
    ? []
    : ["run", "demo", "doctor", "prices", "config", "completion"].includes(name)
      ? ["init"]
      : ["init", "run"];

async function prepare(story: readonly string[]): Promise<string> {
  const own = mkdtempSync(join(folder, "kind-"));
  const { env } = place();
  const at = { folder: own, env: { ...env, MAESTRO_STATE_DIR: join(own, "state") } };
  for (const name of story) await runExample(at, name);
  return own;
}

async function exampleOf(at: Place, name: string): Promise<readonly string[]> {
  const help = (await maestro(at, name, "--help")).stdout;
  const [, example = ""] = /\nExample:\n([^]*)/.exec(help) ?? [];
  return [...example.matchAll(/^ *\$ (.*)$/gm)].map(([, line = ""]) => line);
}

/** Lines before the last may stop for a person, which is not a success. The last line is the example. */
async function runExample(at: Place, name: string): Promise<void> {
  const example = await exampleOf(at, name);
  const before = example.slice(0, -1).map((line) => `${line} || [ $? = 4 ]`);
  const script = ["set -e", ...before, example.at(-1)].join("\n");
  execFileSync("bash", ["-c", script], { cwd: at.folder, env: at.env, stdio: "pipe" });
}

/** Whatever a process begun here wants to reach on another machine is refused and written down. */
function offline(at: Place): { readonly at: Place; readonly reached: () => string } {
  const [preload, list] = [join(at.folder, "offline.cjs"), join(at.folder, "reached.txt")];
  writeFileSync(list, "");
  writeFileSync(
    preload,
    `const { Socket } = require("node:net");
     const { connect } = Socket.prototype;
     Socket.prototype.connect = function (...args) {
       const [to, second] = Array.isArray(args[0]) ? args[0] : args;
       const host = typeof to === "object" ? (to.path ? "" : to.host) : typeof second === "string" ? second : "";
       if (!/^(?:|localhost|127\\..*|::1)$/.test(host ?? "")) {
         require("node:fs").appendFileSync(${JSON.stringify(list)}, host + "\\n");
         throw new Error("there is no network");
       }
       return connect.apply(this, args);
     };`,
  );
  const env = { ...at.env, NODE_OPTIONS: `--require ${preload}` };
  return { at: { ...at, env }, reached: () => readFileSync(list, "utf8") };
}

const commands = buildProgram().commands.map((command) => command.name());

/** `serve` does not end. */
const others = commands.filter((name) => name !== "serve");

test.each(others)("the example of %s works offline", async (name) => {
  const { at, reached } = offline(await ready(name));
  await runExample(at, name);
  expect(reached()).toBe("");
});

test("an example that uses the network would fail this suite", async () => {
  const { at, reached } = offline(place({ OPENAI_API_KEY: "none", OPENAI_BASE_URL: "http://192.0.2.1" }));
  expect((await maestro(at, "doctor")).stdout).toContain("does not answer");
  expect(reached()).toContain("192.0.2.1");
});

test("the example of serve works offline, and its link opens the dashboard", async () => {
  const { at, reached } = offline(await ready("serve"));
  const [, ...words] = (await exampleOf(at, "serve")).join(" ").split(" ");
  const { child, finished, output } = begin(at, [...words, "--port", "0"]);
  await vi.waitUntil(() => output().includes("/login?code="), { timeout: 60_000 });
  const [link = ""] = /http:\S+\/login\?code=\S+/.exec(output()) ?? [];
  expect((await fetch(link, { redirect: "manual" })).headers.get("set-cookie")).toMatch(/HttpOnly/i);
  child.kill("SIGTERM");
  expect(await finished).toMatchObject({ code: 0 });
  expect(reached()).toBe("");
});

test("exit 1: a bug is reported as one, and prints its stack only with --debug", async () => {
  const at = place();
  const preload = join(at.folder, "preload.cjs");
  writeFileSync(
    preload,
    'require("node:fs").promises.statfs = () => { throw new TypeError("out of order"); };',
  );
  const broken = { ...at, env: { ...at.env, NODE_OPTIONS: `--require ${preload}` } };
  const { code, stderr } = await maestro(broken, "doctor", "--offline");
  expect({ code, stderr }).toMatchObject({ code: 1 });
  expect(stderr).toBe(
    "Error: out of order\nThis is a bug in Maestro; --debug prints the stack.\n(UNEXPECTED)\n",
  );
  expect((await maestro(broken, "doctor", "--offline", "--debug")).stderr).toMatch(/at .*doctor/);
});

test.each([
  [["runn"], /Did you mean run\?[^]*\(INPUT_INVALID\)/],
  [["run", "x", "--tem", "y"], /unknown option[^]*Did you mean --team\?[^]*maestro run --help/],
  [["run", "x", "--team", "hello.yaml", "--model", "antropic/x"], /Did you mean "anthropic"/],
  [
    ["run", "x", "--team", "hello.yaml", "--model", "openai/gpt-5"],
    /OPENAI_API_KEY is not set[^]*--model simulated[^]*maestro demo/,
  ],
  [["run", "x", "--team", "hello.yaml", "--only", "greting"], /Did you mean "greeting"/],
  [["show", "helo"], /Did you mean "hello"/],
  [["phase", "hello", "replly"], /Did you mean "reply"/],
  [["fork", "hello", "--at", "repli"], /Did you mean "reply"/],
  [["usage", "--by", "persna"], /Did you mean "persona"/],
  [["budget", "hello", "--persona", "reply_autor", "--tokens", "5"], /Did you mean "reply_author"/],
  [["completion", "zhs"], /Did you mean "zsh"/],
  [["checkpoints", "exprt", "hello", "x"], /Did you mean "export"/],
  [["breakers", "reset", "nobody"], /There is no breaker/],
  [
    ["breakers", "reset", "--state-dir", "other"],
    /^ {2}maestro breakers reset <dependency> --state-dir other$/m,
  ],
  [["reject", "hello"], /--note/],
])("2: %j names the closest right one", async (args, expected) => {
  const at = await ready("show");
  const { code, stdout, stderr } = await maestro(at, ...args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toMatch(expected);
  expect(stderr).not.toMatch(/^ {4}at /m);
});

test("no model and no key is an error before anything is recorded, never the simulated model", async () => {
  const at = await ready("run");
  writeFileSync(
    join(at.folder, "bare.yaml"),
    "name: bare\nphases: [{ name: a, personas: [p] }]\npersonas: { p: { instructions: Do it. } }\n",
  );
  const { code, stderr } = await maestro(at, "run", "x", "--team", "bare.yaml");
  expect(code).toBe(2);
  expect(stderr).toContain("No model is named.");
  expect((await maestro(at, "sessions", "--json")).stdout).toBe("[]\n");
});

test("a pipe that is closed early is no error", async () => {
  const at = await ready("show");
  const script = `"${process.execPath}" "${entry}" show hello --json | head -c 10 >/dev/null; echo "\${PIPESTATUS[0]}"`;
  const out = execFileSync("bash", ["-c", script], { cwd: at.folder, env: at.env, encoding: "utf8" });
  expect(out.trim()).toBe("0");
});

/** The files that a command loads decide how fast it starts. Unlike time, they are the same on a busy machine. */
async function loaded(...args: readonly string[]): Promise<string[]> {
  const at = await ready("show");
  const hook = join(at.folder, "hook.mjs");
  const list = join(at.folder, "loaded.txt");
  writeFileSync(
    hook,
    `import { registerHooks } from "node:module";
     import { appendFileSync } from "node:fs";
     registerHooks({ load(url, context, next) { appendFileSync(${JSON.stringify(list)}, url + "\\n"); return next(url, context); } });`,
  );
  writeFileSync(list, "");
  const env = { ...at.env, NODE_OPTIONS: `--import ${hook}` };
  expect(await maestro({ ...at, env }, ...args)).toMatchObject({ code: 0 });
  return lines(readFileSync(list, "utf8")).filter(
    (url) => url.startsWith("file:") && !url.endsWith("hook.mjs"),
  );
}

test("--version loads nothing but the entry; looking loads neither the engine nor a large package", async () => {
  expect((await maestro(place(), "--version")).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect((await loaded("--version")).filter((url) => url.includes("/dist/"))).toEqual([]);
  for (const command of [["sessions"], ["show", "hello"], ["usage"]]) {
    const urls = await loaded(...command);
    expect(urls.filter((url) => /node_modules\/(?!(?:commander|node-diff3)\/)/.test(url))).toEqual([]);
    expect(urls.length).toBeLessThan(60);
    const bytes = urls.reduce((sum, url) => sum + statSync(new URL(url)).size, 0);
    expect(bytes).toBeLessThan(800_000);
  }
});
