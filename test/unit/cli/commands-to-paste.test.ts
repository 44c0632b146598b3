import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { howStarted, typedName } from "../../../src/cli/how-started.ts";
import { folded } from "../../../src/cli/output.ts";
import { adviceLines, nameOf } from "../../../src/cli/typed-command.ts";
import {
  adviceText,
  advise,
  isPlaceholder,
  notePlaceholder,
  quote,
  shellCommand,
} from "../../../src/domain/advice.ts";

const node = process.execPath;

function pathWithNode(): string {
  const folder = mkdtempSync(join(tmpdir(), "maestro-path-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, "bin"));
  symlinkSync(node, join(folder, "bin/node"));
  return join(folder, "bin");
}

test.each([
  [
    "installed for the whole machine",
    { script: "/usr/bin/maestro", env: { PATH: "/bin:/usr/bin" } },
    "maestro",
  ],
  [
    "by the path of its link",
    { script: "/p/node_modules/.bin/maestro", env: { PATH: "/bin" } },
    "/p/node_modules/.bin/maestro",
  ],
  [
    "by npx in a clone",
    {
      script: "/clone/bin/maestro.cjs",
      env: { npm_command: "exec", npm_config_local_prefix: "/clone" },
      folder: "/clone/docs",
    },
    "npx maestro-hive",
  ],
  [
    "by npx in a project that has the package",
    {
      script: "/app/node_modules/.bin/maestro-hive",
      env: { npm_command: "exec", npm_config_local_prefix: "/app" },
      folder: "/app",
    },
    "npx maestro-hive",
  ],
  [
    "by the package's own name, installed globally",
    { script: "/usr/bin/maestro-hive", env: { PATH: "/bin:/usr/bin" } },
    "maestro-hive",
  ],
  [
    "by npx from its cache",
    { script: "/cache/_npx/1e32/node_modules/.bin/maestro-hive", env: { npm_command: "exec" } },
    "npx maestro-hive",
  ],
  [
    "by npx with another prefix, where npx alone would take another package",
    {
      script: "/clone/bin/maestro.cjs",
      env: { npm_command: "exec", npm_config_local_prefix: "/clone" },
      folder: "/clone2",
    },
    `${node} /clone/bin/maestro.cjs`,
  ],
  [
    "by a Node.js that is not on the path",
    { script: "/my clone/bin/maestro.cjs", env: { PATH: "/nowhere" } },
    `${node} '/my clone/bin/maestro.cjs'`,
  ],
  ["as part of another program", { script: "/app/server.js", env: {} }, "maestro"],
])("started %s, commands are printed so that they work here", (_, started, expected) => {
  expect(howStarted({ node, folder: "/", ...started })).toBe(expected);
});

test("started by npx in a clone that is linked in its store, commands are those of the clone", () => {
  const folder = mkdtempSync(join(tmpdir(), "maestro-npx-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const clone = join(folder, "clone");
  const store = join(folder, "_npx/1e32/node_modules");
  mkdirSync(join(clone, "bin"), { recursive: true });
  mkdirSync(join(store, ".bin"), { recursive: true });
  writeFileSync(join(clone, "bin/maestro.cjs"), "");
  symlinkSync(clone, join(store, "maestro-hive"));
  symlinkSync("../maestro-hive/bin/maestro.cjs", join(store, ".bin/maestro"));
  const env = { npm_command: "exec", npm_config_local_prefix: clone };
  const script = join(store, ".bin/maestro");
  expect(howStarted({ node, folder: clone, script, env })).toBe("npx maestro-hive");
});

test("the Node.js of the path is called by its name", () => {
  const started = {
    script: "/clone/bin/maestro.cjs",
    node,
    folder: "/",
    env: { PATH: `/nowhere:${pathWithNode()}` },
  };
  expect(howStarted(started)).toBe("node /clone/bin/maestro.cjs");
});

test.each([
  ["/usr/bin/maestro-hive", "maestro-hive"],
  ["/usr/bin/maestro", "maestro"],
  ["/clone/bin/maestro.cjs", "maestro"],
])("started as %s, the lines that show usage begin with %s", (script, expected) => {
  expect(typedName(script)).toBe(expected);
});

test("a command starts as this process was started and names the state directory", () => {
  const { command } = advise("See why", "show", "a key");
  const place = { start: "npx maestro-hive", stateDir: "a b" };
  expect(shellCommand(command ?? [], place)).toBe("npx maestro-hive show 'a key' --state-dir 'a b'");
  expect(shellCommand(command ?? [], { start: "maestro" })).toBe("maestro show 'a key'");
});

test("a command that names a state directory keeps it", () => {
  const { command } = advise("Import it", "checkpoints", "import", "<file>", "--state-dir", "<folder>");
  expect(shellCommand(command ?? [], { stateDir: "/elsewhere" })).toBe(
    "maestro checkpoints import <file> --state-dir <folder>",
  );
});

test("placeholders stay bare, and anything else that a shell would interpret is quoted", () => {
  expect(["<file>", "design=<file>", "<phase>=<file>", "<a>/etc/x", "<file>;x"].map(quote)).toEqual([
    "<file>",
    "design=<file>",
    "<phase>=<file>",
    "'<a>/etc/x'",
    "'<file>;x'",
  ]);
});

test("the placeholder of a note is quoted for a shell and is recognized when it is pasted", () => {
  expect(quote(notePlaceholder)).toBe("'<what to change>'");
  const pasted = [notePlaceholder, "...", " … ", "<x>"];
  expect(pasted.map(isPlaceholder)).toEqual([true, true, true, true]);
  expect(["Shorter...", "use <b>", "<a> or <b>"].map(isPlaceholder)).toEqual([false, false, false]);
});

test("sentences and commands of an advice read as one text", () => {
  const actions = [advise("Restore a backup."), advise("Or export it", "show", "k"), advise("Then", "prune")];
  expect(adviceText(actions, { stateDir: "s" })).toBe(
    "Restore a backup. Or export it: maestro show k --state-dir s; Then: maestro prune --state-dir s",
  );
});

test("the terminal wraps the text of an advice and prints its command on one line", () => {
  const long = "s".repeat(200);
  expect(adviceLines(advise("See why", "show", "k"), long)).toEqual([
    { text: "See why:", isCommand: false },
    { text: `  maestro show k --state-dir ${long}`, isCommand: true },
  ]);
  expect(folded("Restore the database from a backup, then resume.", 30)).toEqual([
    "Restore the database from a",
    "backup, then resume.",
  ]);
});

test.each([
  ["parking-1", "parking-1"],
  [null, "01id"],
  ["-x", "01id"],
  ["--out", "01id"],
  ["a\u202eb", "01id"],
  ["<file>", "01id"],
])("a session with the key %j is called %s in a command", (key, name) => {
  expect(nameOf({ key, id: "01id" })).toBe(name);
});
