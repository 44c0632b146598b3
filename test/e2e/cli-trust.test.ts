import { once } from "node:events";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { begin, inTerminal, json, maestro, type Place, place } from "./support/packed.ts";

/** A folder as a stranger could have made it; whether its code ran is seen by a file. */
function stranger(files: Readonly<Record<string, string>>, more: Record<string, string> = {}): Place {
  const at = place(more);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(at.folder, name), text);
  return at;
}

const code = `import { writeFileSync } from "node:fs";
writeFileSync("ran", "");
export default {};
`;

const agentTeam = (variable = "STOLEN") => `name: agents
phases: [{ name: only, personas: [agent] }]
personas:
  agent: { command: [sh, -c, 'echo "$${variable}" > got.md'], env: [${variable}] }
`;

const ran = (at: Place): boolean => existsSync(join(at.folder, "ran"));
const command = (stderr: string): readonly string[] =>
  (/^ {2}maestro (.*)$/m.exec(stderr)?.[1] ?? "").split(" ");

test("commands that only look run no code of the folder, and say that its configuration was not read", async () => {
  const at = stranger({ "hello.yaml": hello });
  expect(await maestro(at, "run", "Say hello", "--team", "hello.yaml", "--key", "k")).toMatchObject({
    code: 0,
  });
  writeFileSync(join(at.folder, "maestro.config.ts"), code);
  for (const looking of [
    ["sessions"],
    ["show", "k"],
    ["watch", "k"],
    ["usage"],
    ["doctor", "--offline"],
    ["config"],
    ["checkpoints", "k"],
    ["checkpoints", "verify", "k"],
    ["tickets"],
    ["breakers"],
    ["budget", "k"],
  ]) {
    for (const trust of ["", "1"]) {
      const env = { ...at.env, MAESTRO_TRUST: trust };
      const { code: exit, stdout, stderr } = await maestro({ ...at, env }, ...looking);
      expect({ looking, exit, stderr }).toMatchObject({ exit: 0 });
      expect(stdout + stderr).toContain("maestro.config.ts was not read");
    }
  }
  for (const silent of [["--version"], ["--help"], ["completion", "bash"]])
    expect(await maestro(at, ...silent)).toMatchObject({ code: 0 });
  expect(ran(at)).toBe(false);
});

const hello = `name: hello
model: simulated
phases: [{ name: only, personas: [worker] }]
personas: { worker: { instructions: Work. } }
`;

test.each([
  ["run", "hi", "--team", "hello.yaml"],
  ["resume", "k"],
  ["phase", "k", "only"],
  ["fork", "k", "--at", "only"],
  ["serve", "--port", "0"],
  ["approve", "k"],
])("%s runs no code of an untrusted folder: exit 2, with the command that trusts it", async (...acting) => {
  const at = stranger({ "hello.yaml": hello });
  await maestro(at, "run", "hi", "--team", "hello.yaml", "--key", "k", "--model", "simulated");
  writeFileSync(join(at.folder, "maestro.config.ts"), code);
  const refused = await maestro(at, ...acting);
  expect(refused).toMatchObject({ code: 2, stdout: "" });
  expect(refused.stderr).toContain("NOT_TRUSTED");
  expect(command(refused.stderr)).toEqual(["trust", at.folder]);
  expect(ran(at)).toBe(false);
});

test("the printed command trusts the folder until its configuration changes", async () => {
  const at = stranger({ "hello.yaml": hello, "maestro.config.ts": code });
  const run = ["run", "hi", "--team", "hello.yaml"];
  const refused = await maestro(at, ...run);
  expect(await maestro(at, ...command(refused.stderr))).toMatchObject({ code: 0 });
  expect(await maestro(at, ...run)).toMatchObject({ code: 0 });
  expect(ran(at)).toBe(true);
  writeFileSync(join(at.folder, "maestro.config.ts"), `${code}// another line\n`);
  expect(await maestro(at, ...run)).toMatchObject({ code: 2 });
  expect(await json(at, "trust")).toMatchObject({
    path: at.folder,
    trusted: [{ path: join(at.folder, "maestro.config.ts") }],
    revoked: [],
  });
  expect(await maestro(at, ...run)).toMatchObject({ code: 0 });
  expect(await maestro(at, "trust", "--revoke")).toMatchObject({ code: 0 });
  expect(await maestro(at, ...run)).toMatchObject({ code: 2 });
  expect(await maestro({ ...at, env: { ...at.env, MAESTRO_TRUST: "1" } }, ...run)).toMatchObject({ code: 0 });
});

test("a session in a state directory that code chose is found by the commands that its run prints", async () => {
  const config = 'export default { stateDir: "elsewhere" };\n';
  const at = stranger({ "hello.yaml": hello, "maestro.config.mjs": config }, { MAESTRO_STATE_DIR: "" });
  await maestro(at, "trust");
  const detached = await maestro(at, "run", "hi", "--team", "hello.yaml", "--key", "k", "--detach");
  const watch = /Watch it with: maestro (.*)/.exec(detached.stderr)?.[1] ?? "";
  expect(watch).toContain(join(at.folder, "elsewhere"));
  expect(await maestro(at, ...watch.split(" "))).toMatchObject({ code: 0 });
});

test("a token of the environment is not sent to an address that the folder chose", async () => {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url ?? "");
    response.end("{}");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const jira = `jira: { baseUrl: "http://127.0.0.1:${port}", email: a@b.example, projectKey: X, allowInternal: true }\n`;
  const at = stranger({ "hello.yaml": hello, "maestro.config.yaml": jira }, { JIRA_API_TOKEN: "the-token" });
  try {
    for (const acting of [
      ["run", "hi", "--team", "hello.yaml"],
      ["serve", "--port", "0"],
    ]) {
      const refused = await maestro(at, ...acting);
      expect(refused).toMatchObject({ code: 2 });
      expect(refused.stderr).toContain("JIRA_API_TOKEN is sent there");
    }
    expect(await maestro(at, "tickets")).toMatchObject({ code: 0 });
    expect(requests).toEqual([]);
  } finally {
    server.close();
  }
});

test("a YAML team that passes a variable to a program starts none before a person trusted it", async () => {
  const at = stranger({ "team.yaml": agentTeam() }, { STOLEN: "the-secret" });
  const run = ["run", "hi", "--team", "team.yaml", "--key", "k", "--out", "out"];
  const refused = await maestro(at, ...run);
  expect(refused).toMatchObject({ code: 2, stdout: "" });
  expect(refused.stderr).toContain("agent passes the environment variable STOLEN to sh.");
  expect(await maestro(at, "serve", "--port", "0", "--team", "team.yaml")).toMatchObject({ code: 2 });
  expect(await json(at, "sessions")).toEqual([]);

  expect(await maestro(at, ...command(refused.stderr))).toMatchObject({ code: 0 });
  expect(await maestro(at, ...run)).toMatchObject({ code: 0 });
  expect(existsSync(join(at.folder, "out/got.md"))).toBe(true);
  // The session remembers the file, which is another one now.
  writeFileSync(join(at.folder, "team.yaml"), agentTeam("ANOTHER"));
  for (const again of [
    ["resume", "k"],
    ["phase", "k", "only"],
    ["fork", "k", "--at", "only", "--fresh"],
  ]) {
    const changed = await maestro(at, ...again);
    expect(changed).toMatchObject({ code: 2 });
    expect(changed.stderr).toContain("agent passes the environment variable ANOTHER to sh.");
  }
});

test("on a terminal a person is asked, and anything but a yes is a no", async () => {
  const at = stranger({ "team.yaml": agentTeam() }, { STOLEN: "the-secret" });
  const run = ["run", "hi", "--team", "team.yaml", "--out", "out"];
  const asked = String.raw`Trust it\? \[y/N\]`;
  for (const send of ["\r", "no\r", "\u0004"]) {
    const no = await inTerminal(at, [100, 30], run, [{ when: asked, send }]);
    expect(no).toMatchObject({ code: 2, stepsLeft: 0 });
    expect(no.lines.join("\n")).toContain("agent passes the environment variable STOLEN to sh.");
  }
  expect(await json(at, "sessions")).toEqual([]);
  const yes = await inTerminal(at, [100, 30], run, [{ when: asked, send: "y\r" }]);
  expect(yes).toMatchObject({ code: 0, stepsLeft: 0 });
  const again = await inTerminal(at, [100, 30], run);
  expect(again.code).toBe(0);
  expect(again.lines.join("\n")).not.toMatch(/Trust it/);
});

test("naming a module with --team is consent for that file", async () => {
  const index = join(import.meta.dirname, "../../dist/index.js");
  const team = `import { defineTeam, persona, phase } from ${JSON.stringify(index)};
export default defineTeam("t", { phases: [phase("p", { personas: [persona("w", { run: async () => ({ summary: "done" }) })] })] });
`;
  const at = stranger({ "team.mjs": team });
  expect(await maestro(at, "run", "hi", "--team", "team.mjs")).toMatchObject({ code: 0 });
  expect(await maestro(at, "trust", "team.mjs")).toMatchObject({ code: 2 });
});

test("without a terminal no answer is read from standard input", async () => {
  const at = stranger({ "team.yaml": agentTeam() });
  const { finished } = begin(at, ["run", "hi", "--team", "team.yaml"], "y\n");
  expect(await finished).toMatchObject({ code: 2 });
});

function installGroq({ folder }: Place): void {
  const packageFolder = join(folder, "node_modules", "@ai-sdk", "groq");
  mkdirSync(packageFolder, { recursive: true });
  writeFileSync(join(packageFolder, "package.json"), '{ "name": "@ai-sdk/groq", "main": "index.cjs" }');
  writeFileSync(
    join(packageFolder, "index.cjs"),
    `require("node:fs").writeFileSync(${JSON.stringify(join(folder, "ran"))}, "");`,
  );
}

test("a package of a model's provider is loaded from a folder only if its configuration is trusted", async () => {
  const at = stranger({ "hello.yaml": hello }, { GROQ_API_KEY: "key-for-tests-0123456789" });
  installGroq(at);
  const run = ["run", "Say hello", "--team", "hello.yaml", "--model", "groq/llama"];
  expect((await maestro(at, ...run)).stderr).toContain("@ai-sdk/groq, which is not installed");
  writeFileSync(join(at.folder, "maestro.config.yaml"), "providersFrom: .\n");
  const { stderr } = await maestro(at, ...run);
  expect(stderr).toContain("It sets providersFrom (line 1): packages that are installed there run as you.");
  expect(ran(at)).toBe(false);
  await maestro(at, ...command(stderr));
  expect((await maestro(at, ...run)).stderr).toContain("it has no createGroq");
  expect(ran(at)).toBe(true);
});
