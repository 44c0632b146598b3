import { existsSync } from "node:fs";
import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { describeConfig } from "../../../src/config/describe.ts";
import { loadConfig } from "../../../src/config/load.ts";
import { settingKeys, settings } from "../../../src/config/settings.ts";
import { loadTrustedTeam } from "../../../src/config/team-trust.ts";
import { trustPlace } from "../../../src/config/trust-place.ts";
import { rememberTrust, revokeTrust } from "../../../src/config/trust-store.ts";
import { ConfigInvalid, InputInvalid, NotTrusted } from "../../../src/domain/errors.ts";
import { project } from "./project.ts";

/** A person with an empty home, who trusted nothing. */
const person = async (): Promise<NodeJS.ProcessEnv> => ({ XDG_CONFIG_HOME: await project() });

const ran = (cwd: string): boolean => existsSync(join(cwd, "ran"));
const code = `import { writeFileSync } from "node:fs";
writeFileSync(new URL("ran", import.meta.url), "");
export default { leaseMs: 2000 };
`;

const agent = `name: team
phases: [{ name: only, personas: [agent] }]
personas: { agent: { command: [agent, -p], env: [NPM_TOKEN] } }
`;

describe("a configuration that is code", () => {
  test("runs only where a person trusted exactly its content", async () => {
    const [cwd, env] = [await project({ "maestro.config.mjs": code }), await person()];
    const refused = loadConfig({ cwd, env });
    await expect(refused).rejects.toThrow(NotTrusted);
    await expect(refused).rejects.toMatchObject({
      exitCode: 2,
      actions: [{ command: ["maestro", "trust", cwd] }],
    });
    expect(ran(cwd)).toBe(false);

    await trustPlace(cwd, env);
    expect((await loadConfig({ cwd, env })).config.leaseMs).toBe(2_000);
    expect(ran(cwd)).toBe(true);

    await writeFile(join(cwd, "maestro.config.mjs"), `${code}// changed\n`);
    await expect(loadConfig({ cwd, env })).rejects.toThrow(NotTrusted);
    await trustPlace(cwd, env);
    await loadConfig({ cwd, env });
    await revokeTrust(cwd, env);
    await expect(loadConfig({ cwd, env })).rejects.toThrow(NotTrusted);
  });

  test("never runs for a command that only looks, trusted or not, and the command says so", async () => {
    const [cwd, env] = [await project({ "maestro.config.mjs": code }), await person()];
    const path = join(cwd, "maestro.config.mjs");
    const sentence = `${path} was not read: it is code, and commands that only look run none.`;
    const untrusted = await loadConfig({ cwd, env, onlyLooks: true });
    expect(untrusted.leftOut).toBe(`${sentence} It is not trusted either.`);
    await trustPlace(cwd, env);
    for (const each of [env, { ...env, MAESTRO_TRUST: "1" }]) {
      const { leftOut, config } = await loadConfig({ cwd, env: each, onlyLooks: true });
      expect([leftOut, config.leaseMs]).toEqual([sentence, 15_000]);
    }
    expect(ran(cwd)).toBe(false);
  });

  test("is not trusted in another folder that links to it", async () => {
    const [cwd, other, env] = [
      await project({ "maestro.config.mjs": code }),
      await project(),
      await person(),
    ];
    await trustPlace(cwd, env);
    await symlink(join(cwd, "maestro.config.mjs"), join(other, "maestro.config.mjs"));
    await expect(loadConfig({ cwd: other, env })).rejects.toThrow(NotTrusted);
    expect(ran(cwd)).toBe(false);
  });

  test("is trusted under every name of its folder", async () => {
    const [cwd, links, env] = [
      await project({ "maestro.config.mjs": code }),
      await project(),
      await person(),
    ];
    await symlink(cwd, join(links, "alias"));
    await trustPlace(join(links, "alias"), env);
    expect((await loadConfig({ cwd, env })).config.leaseMs).toBe(2_000);
  });

  test("runs in CI with MAESTRO_TRUST=1, and a value that is neither yes nor no is refused", async () => {
    const [cwd, env] = [await project({ "maestro.config.mjs": code }), await person()];
    expect((await loadConfig({ cwd, env: { ...env, MAESTRO_TRUST: "1" } })).config.leaseMs).toBe(2_000);
    await expect(loadConfig({ cwd, env: { ...env, MAESTRO_TRUST: "0" } })).rejects.toThrow(NotTrusted);
    const odd = loadConfig({ cwd: await project(), env: { ...env, MAESTRO_TRUST: "maybe" } });
    await expect(odd).rejects.toThrow(ConfigInvalid);
    await expect(odd).rejects.toThrow('MAESTRO_TRUST is "maybe"; allowed is 1 or 0.');
  });
});

describe("an entry counts only when this user alone can have written it", () => {
  const trusted = async () => {
    const [cwd, env] = [await project({ "maestro.config.mjs": code }), await person()];
    await trustPlace(cwd, env);
    const folder = join(String(env["XDG_CONFIG_HOME"]), "maestro/trusted");
    const [name = ""] = await readdir(folder);
    return { cwd, env, folder, entry: join(folder, name) };
  };

  test("it is written for this user alone", async () => {
    const { folder, entry } = await trusted();
    expect([(await stat(folder)).mode & 0o777, (await stat(entry)).mode & 0o777]).toEqual([0o700, 0o600]);
  });

  test("others may write it", async () => {
    const { cwd, env, entry } = await trusted();
    await chmod(entry, 0o666);
    await expect(loadConfig({ cwd, env })).rejects.toThrow(NotTrusted);
  });

  test("it is about another path", async () => {
    const { cwd, env, entry } = await trusted();
    const text = await readFile(entry, "utf8");
    await writeFile(entry, text.replace(cwd, `${cwd}-other`));
    await expect(loadConfig({ cwd, env })).rejects.toThrow(NotTrusted);
  });

  test.each(["", "{", "[]", "null", '{"path":1}'])("it is damaged: %j", async (text) => {
    const { cwd, env, entry } = await trusted();
    await writeFile(entry, text);
    await expect(loadConfig({ cwd, env })).rejects.toThrow(NotTrusted);
  });
});

describe("a folder that is not trusted", () => {
  test("gets no secret of the environment for an address of its own", async () => {
    const cwd = await project({ "maestro.config.yaml": "jira:\n  baseUrl: https://evil.example\n" });
    const env = { ...(await person()), JIRA_API_TOKEN: "secret", JIRA_EMAIL: "a@b.example" };
    const refused = loadConfig({ cwd, env });
    await expect(refused).rejects.toThrow(NotTrusted);
    await expect(refused).rejects.toThrow(
      "It sets jira.baseUrl (line 2): JIRA_API_TOKEN is sent there with each ticket.",
    );
    await trustPlace(cwd, env);
    expect((await loadConfig({ cwd, env })).config.jira).toMatchObject({
      baseUrl: "https://evil.example",
      apiToken: "secret",
    });
  });

  test("sets no address that a secret is sent to, no secret, and nothing that lifts a protection", () => {
    const free = settingKeys.filter((key) => settings[key].needsTrust === null);
    expect(free).toEqual([
      "model",
      "attempts.max",
      "attempts.baseDelayMs",
      "attempts.maxDelayMs",
      "attempts.timeoutMs",
      "rounds.max",
      "rounds.baseDelayMs",
      "rounds.maxDelayMs",
      "breaker.threshold",
      "breaker.cooldownMs",
      "budget.personaTokens",
      "budget.dayTokens",
      "budget.dayUsd",
      "leaseMs",
      "limits.teams",
      "limits.models",
      "limits.queues",
      "limits.providers",
      "server.port",
      "server.places",
    ]);
    expect(settingKeys.filter((key) => settings[key].secret && settings[key].needsTrust === null)).toEqual(
      [],
    );
  });

  test("may set what needs trust where a stronger place replaces it", async () => {
    const cwd = await project({ "maestro.config.yaml": "stateDir: here\nmodel: simulated\n" });
    const env = await person();
    const { config } = await loadConfig({ cwd, env, flags: { stateDir: "/other" } });
    expect([config.stateDir, config.model]).toEqual(["/other", "simulated"]);
  });

  test("is looked at without what needs trust, and the command says which settings those are", async () => {
    const cwd = await project({ "maestro.config.yaml": "stateDir: here\nmodel: simulated\n" });
    const { config, leftOut } = await loadConfig({ cwd, env: await person(), onlyLooks: true });
    expect([config.stateDir, config.model]).toEqual([undefined, "simulated"]);
    expect(leftOut).toBe(
      `${join(cwd, "maestro.config.yaml")} is not trusted, so these of its settings are not used: stateDir.`,
    );
  });
});

describe("the user's own configuration", () => {
  const written = async (text: string, cwd: string) => {
    const env = await person();
    const folder = join(String(env["XDG_CONFIG_HOME"]), "maestro");
    await mkdir(folder);
    await writeFile(join(folder, "config.yaml"), text);
    return { cwd, env, file: join(folder, "config.yaml") };
  };

  test("may set everything, and its origin is shown", async () => {
    const { cwd, env, file } = await written("stateDir: /mine\n", await project());
    const loaded = await loadConfig({ cwd, env });
    const shown = describeConfig(loaded).find(({ key }) => key === "stateDir");
    expect(shown).toMatchObject({ value: "/mine", origin: `user file ${file}` });
  });

  test("is over an untrusted folder, under a trusted one, and under the environment", async () => {
    const folder = await project({ "maestro.config.yaml": "budget: { dayUsd: 1000 }\n" });
    const { cwd, env } = await written("budget: { dayUsd: 5 }\n", folder);
    const dayUsd = async (more = {}) =>
      (await loadConfig({ cwd, env: { ...env, ...more } })).config.budget.dayUsd;
    expect(await dayUsd()).toBe(5);
    await trustPlace(folder, env);
    expect(await dayUsd()).toBe(1_000);
    expect(await dayUsd({ MAESTRO_DAY_USD_BUDGET: "7" })).toBe(7);
  });

  test("is refused with its path where it is wrong", async () => {
    const { cwd, env, file } = await written("modle: x\n", await project());
    await expect(loadConfig({ cwd, env })).rejects.toThrow(`${file}, line 1: there is no setting "modle".`);
  });
});

describe("a team file that reaches beyond the sandbox", () => {
  test("needs trust in exactly its content, and says all that it would do", async () => {
    const [cwd, env] = [await project({ "team.yaml": agent }), await person()];
    const file = join(cwd, "team.yaml");
    const refused = loadTrustedTeam(file, env, "required");
    await expect(refused).rejects.toThrow(NotTrusted);
    await expect(refused).rejects.toMatchObject({
      details: {
        demands: [
          "agent runs a program with the network: agent -p.",
          "agent passes the environment variable NPM_TOKEN to agent.",
        ],
      },
      actions: [{ command: ["maestro", "trust", file] }],
    });
    await trustPlace(file, env);
    expect((await loadTrustedTeam(file, env, "required")).team.name).toBe("team");
    await writeFile(file, agent.replace("NPM_TOKEN", "AWS_SECRET_ACCESS_KEY"));
    await expect(loadTrustedTeam(file, env, "required")).rejects.toThrow(NotTrusted);
  });

  test("is trusted with its folder, which leaves out files that are no such team", async () => {
    const cwd = await project({
      "team.json": JSON.stringify({
        name: "t",
        phases: [{ name: "p", personas: ["a"] }],
        personas: { a: { command: ["a"] } },
      }),
      "team.yaml": agent,
      "harmless.yaml": agent.replace("command: [agent, -p], env: [NPM_TOKEN]", "instructions: Work."),
      "compose.yaml": "services: {}\n",
      "broken.json": "{",
      "maestro.config.yaml": "model: simulated\n",
    });
    const env = await person();
    const trusted = await trustPlace(cwd, env);
    expect(trusted.map(({ path, demands }) => [path, demands.length])).toEqual([
      [join(cwd, "maestro.config.yaml"), 0],
      [join(cwd, "team.json"), 1],
      [join(cwd, "team.yaml"), 2],
    ]);
    await loadTrustedTeam(join(cwd, "team.yaml"), env, "required");
    expect(await revokeTrust(cwd, env)).toHaveLength(3);
    await expect(loadTrustedTeam(join(cwd, "team.yaml"), env, "required")).rejects.toThrow(NotTrusted);
  });

  test("needs none when it is a module, which is trusted by naming it", async () => {
    const source = join(import.meta.dirname, "../../fixtures/teams/product.ts");
    await loadTrustedTeam(source, await person(), "required");
    await expect(trustPlace(source, await person())).rejects.toThrow(InputInvalid);
  });
});

test("revoking forgets files and folders that no longer exist, and changes no others", async () => {
  const env = await person();
  for (const path of ["/gone/a/team.yaml", "/gone/ab/team.yaml"])
    await rememberTrust({ path, sha256: "0" }, env);
  expect(await revokeTrust("/gone/a", env)).toEqual(["/gone/a/team.yaml"]);
  expect(await revokeTrust("/gone/ab/team.yaml", env)).toEqual(["/gone/ab/team.yaml"]);
  expect(await revokeTrust("/", env)).toEqual([]);
});
