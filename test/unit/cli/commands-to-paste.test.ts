import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { howStarted } from "../../../src/cli/how-started.ts";
import { folded } from "../../../src/cli/output.ts";
import { nameOf, pasteable, wordsOf } from "../../../src/cli/typed-command.ts";

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
  ["Look at it with: maestro show k", "Look at it with: npx maestro show --state-dir 'a b' k"],
  [
    "Elsewhere: maestro checkpoints export k <file>, then maestro checkpoints import <file> --state-dir <new>. Remove it: maestro prune --damaged k",
    "Elsewhere: npx maestro checkpoints --state-dir 'a b' export k <file>, then npx maestro checkpoints import <file> --state-dir <new>. Remove it: npx maestro prune --state-dir 'a b' --damaged k",
  ],
  [
    "Raise it: maestro budget k --tokens 5 && maestro resume k; or wait.",
    "Raise it: npx maestro budget --state-dir 'a b' k --tokens 5 && npx maestro resume --state-dir 'a b' k; or wait.",
  ],
  ["or see it offline with `maestro demo`.", "or see it offline with `npx maestro demo --state-dir 'a b'`."],
  ["Maestro resumes it, maestro.db is intact.", "Maestro resumes it, maestro.db is intact."],
])("advice can be pasted where it is read: %s", (text, expected) => {
  expect(pasteable(text, "a b", "npx maestro")).toBe(expected);
});

test("with the usual state directory nothing is said of it", () => {
  expect(pasteable("See: maestro show k", undefined, "maestro")).toBe("See: maestro show k");
  expect(pasteable("It reruns: npx maestro fork k --fresh", undefined, "npx maestro")).toBe(
    "It reruns: npx maestro fork k --fresh",
  );
});

test("a text is broken between words, a command in it never", () => {
  const words = wordsOf("Go on with `npx maestro resume k --state-dir x`; or leave it.", "npx maestro");
  expect(words).toEqual(["Go", "on", "with", "`npx maestro resume k --state-dir x`;", "or", "leave", "it."]);
  expect(folded("What to do: look at it, then approve it: maestro approve k --state-dir /tmp/x", 30)).toEqual(
    ["What to do: look at it, then", "approve it:", "maestro approve k --state-dir /tmp/x"],
  );
});

test.each([
  ["parking-1", "parking-1"],
  [null, "01id"],
  ["-x", "01id"],
  ["--out", "01id"],
  ["a\u202eb", "01id"],
])("a session with the key %j is called %s in a command", (key, name) => {
  expect(nameOf({ key, id: "01id" })).toBe(name);
});
