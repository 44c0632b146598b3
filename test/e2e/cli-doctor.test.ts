import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { defineTeam, open, persona, phase } from "../../src/index.ts";
import { inTerminal, maestro, place } from "./support/packed.ts";

/** Something that a machine may lack, made to be so before the command looks. */
function lacking(code: string) {
  const at = place();
  const preload = join(at.folder, "preload.cjs");
  writeFileSync(preload, code);
  return { ...at, env: { ...at.env, NODE_OPTIONS: `--require ${preload}` } };
}

test("every check is named when all is well: Node, configuration, state, disk, database, sandbox, keys", async () => {
  const { code, stdout } = await maestro(place(), "doctor", "--offline");
  expect(code).toBe(0);
  for (const what of [
    "Node.js",
    "configuration",
    "state directory",
    "disk space",
    "database",
    "sandbox",
    "model keys",
  ])
    expect(stdout).toMatch(new RegExp(`^[✔!] ${what}: `, "m"));
  expect(stdout).toMatch(
    /! model keys: none is set\n {4}→ Set one of ANTHROPIC_API_KEY, [^]*--model simulated/,
  );
});

test.each([
  [
    "little space",
    'require("node:fs").promises.statfs = async () => ({ bavail: 1, bsize: 4096 });',
    3,
    /✘ disk space: 4\.0 KiB free\n {4}→ Remove old sessions:\n {6}maestro prune/,
  ],
  [
    "no sandbox",
    'process.env.PATH = "/nowhere";',
    0,
    /! sandbox: none: [^]*are refused\.\n {4}→ Install bubblewrap: /,
  ],
])("%s is found, and how to mend it is said", async (_, code, exitCode, expected) => {
  const { code: ended, stdout } = await maestro(lacking(code), "doctor", "--offline");
  expect(stdout).toMatch(expected);
  expect(ended).toBe(exitCode);
});

test("a state directory that is none is found, and how to mend it is said", async () => {
  const at = place();
  writeFileSync(join(at.folder, "taken"), "");
  const { code, stdout } = await maestro(at, "doctor", "--offline", "--state-dir", "taken");
  expect(code).toBe(2);
  expect(stdout).toMatch(/✘ state directory: .*taken[^]*→ /);
});

test("a command that takes over a second shows its time and clears it when it ends", async () => {
  const server = createServer(() => undefined);
  onTestFinished(() => server.closeAllConnections());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const at = place({ ANTHROPIC_API_KEY: "none", ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}` });
  const seen = await inTerminal(at, [60, 24], ["doctor"], [{ when: "maestro doctor: \\d+\\.\\d s" }]);
  expect(seen).toMatchObject({ code: 0, stepsLeft: 0, wrapped: 0 });
  expect(seen.lines.join("\n")).toContain("does not answer: nothing within 5 s");
  expect(seen.lines.join("\n")).not.toContain("maestro doctor:");
});

test("a check of the sessions that takes long shows how far it is, and prints one document with --json", async () => {
  const slowly = `const { promises } = require("node:fs"); const { open } = promises;
    promises.open = async (path, ...rest) => {
      if (String(path).includes("checkpoint_")) await new Promise((go) => setTimeout(go, 1_500));
      return open(path, ...rest);
    };`;
  const at = lacking(slowly);
  const team = defineTeam("idle", {
    phases: [phase("rest", { personas: [persona("one", { run: async () => ({ summary: "" }) })] })],
  });
  const hive = await open({ stateDir: join(at.folder, "state"), teams: [team] });
  for (const brief of ["one", "two"]) await hive.create(team, { brief });
  await hive.close();
  const command = ["doctor", "--offline", "--json"];
  const seen = await inTerminal(at, [100, 24], command, [
    { when: "\\d+\\.\\d s, [01] of 2 sessions verified" },
  ]);
  expect(seen).toMatchObject({ code: 0, stepsLeft: 0 });
  expect(JSON.parse(seen.lines.join(""))).toMatchObject({ ok: true });
});
