import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ConfigOverrides } from "../../../src/config/config.ts";
import { loadConfig } from "../../../src/config/load.ts";
import { project, refusal, stranger } from "./project.ts";

describe("an unknown key is refused with its place and the closest right one", () => {
  test("in YAML, with the line", async () => {
    const cwd = await project({ "maestro.config.yaml": "model: simulated\nattempts:\n  maxx: 4\n" });
    const message = await refusal({ cwd });
    expect(message).toContain(
      `${join(cwd, "maestro.config.yaml")}, line 3: there is no setting "attempts.maxx".`,
    );
    expect(message).toContain('Did you mean "attempts.max"?');
  });

  test("in JSON, with the line", async () => {
    const cwd = await project({
      "maestro.config.json": '{\n  "leaseMs": 2000,\n  "modle": "simulated"\n}\n',
    });
    const message = await refusal({ cwd });
    expect(message).toContain(`${join(cwd, "maestro.config.json")}, line 3: there is no setting "modle".`);
    expect(message).toContain('Did you mean "model"?');
  });

  test("in a module", async () => {
    const cwd = await project({ "maestro.config.mjs": "export default { attempt: { max: 3 } };\n" });
    const message = await refusal({ cwd });
    expect(message).toContain(`${join(cwd, "maestro.config.mjs")}: there is no setting "attempt".`);
    expect(message).toContain('Did you mean "attempts"?');
  });

  test("in the environment", async () => {
    const message = await refusal({ cwd: await project(), env: { MAESTRO_L1_MAX_ATTEMPT: "3" } });
    expect(message).toContain("there is no setting MAESTRO_L1_MAX_ATTEMPT.");
    expect(message).toContain('Did you mean "MAESTRO_L1_MAX_ATTEMPTS"?');
  });

  test("in what a program gives to open()", async () => {
    const overrides = { attempts: { maxDelay: 3 } } as ConfigOverrides;
    expect(await refusal({ cwd: await project(), overrides })).toContain(
      'open(): there is no setting "attempts.maxDelay". Did you mean "attempts.maxDelayMs"?',
    );
  });

  test("when it is spelled with a dot", async () => {
    const cwd = await project({ "maestro.config.json": '{ "attempts.max": 4 }' });
    expect(await refusal({ cwd })).toContain("nested objects");
  });
});

test.each(["yaml", "json"])("a %s file that is nested without end is refused as that", async (extension) => {
  const text = "[".repeat(20_000);
  const cwd = await project({ [`maestro.config.${extension}`]: text });
  expect(await refusal({ cwd })).toMatch(/nested more than|too deep|levels/);
});

test("a file of very many wrong keys is refused quickly, with the first of them", async () => {
  const text = Array.from({ length: 60_000 }, (_, index) => `k${index}: ${index}`).join("\n");
  const cwd = await project({ "maestro.config.yaml": text });
  const begun = performance.now();
  expect(await refusal({ cwd })).toContain("The configuration has 20 problems:");
  expect(performance.now() - begun).toBeLessThan(20_000);
});

describe("a value that is not allowed is refused with its place and what is allowed", () => {
  test.each([
    ["attempts.max", "MAESTRO_L1_MAX_ATTEMPTS", "0", "a whole number from 1 to 20"],
    ["attempts.max", "MAESTRO_L1_MAX_ATTEMPTS", "21", "a whole number from 1 to 20"],
    ["attempts.baseDelayMs", "MAESTRO_L1_BASE_DELAY_MS", "-1", "a whole number from 0 to 3600000"],
    ["attempts.maxDelayMs", "MAESTRO_L1_MAX_DELAY_MS", "3600001", "a whole number from 0 to 3600000"],
    ["rounds.max", "MAESTRO_L2_MAX_ATTEMPTS", "11", "a whole number from 1 to 10"],
    ["rounds.max", "MAESTRO_L2_MAX_ATTEMPTS", "1.5", "a whole number from 1 to 10"],
    ["leaseMs", "MAESTRO_LEASE_MS", "999", "a whole number from 1000 to 600000"],
    ["leaseMs", "MAESTRO_LEASE_MS", "15s", "a whole number from 1000 to 600000"],
    ["leaseMs", "MAESTRO_LEASE_MS", "0x5000", "a whole number from 1000 to 600000"],
    ["stateDir", "MAESTRO_STATE_DIR", " ", "a text that is not empty"],
  ])("%s from %s=%s", async (key, name, value, allowed) => {
    expect(await refusal({ cwd: await project(), env: { [name]: value } })).toContain(
      `${key} is "${value}" (environment ${name}); allowed is ${allowed}.`,
    );
  });

  test("a text where a file should have a number, with the line", async () => {
    const cwd = await project({ "maestro.config.yaml": 'rounds:\n  max: "2"\n' });
    expect(await refusal({ cwd })).toContain(
      `rounds.max is "2" (file ${join(cwd, "maestro.config.yaml")}, line 2); allowed is a whole number`,
    );
  });

  test("a flag", async () => {
    expect(await refusal({ cwd: await project(), flags: { "server.port": "many" } })).toContain(
      'server.port is "many" (flag --port)',
    );
  });

  test("null, a list, and a section that is no object", async () => {
    const cwd = await project({ "maestro.config.yaml": "model:\nleaseMs: [1]\nattempts: 3\n" });
    const message = await refusal({ cwd });
    expect(message).toContain("The configuration has 3 problems:\n- ");
    expect(message).toContain("model is null");
    expect(message).toContain("leaseMs is [ 1 ]");
    expect(message).toContain("line 3: attempts must be an object of settings, not 3.");
  });

  test("a first wait longer than the longest", async () => {
    const env = { MAESTRO_L1_BASE_DELAY_MS: "800", MAESTRO_L1_MAX_DELAY_MS: "500" };
    expect(await refusal({ cwd: await project(), env })).toContain(
      "attempts.baseDelayMs is 800 (environment MAESTRO_L1_BASE_DELAY_MS) and so larger than attempts.maxDelayMs, which is 500",
    );
  });

  test("a default gives way to the one wait that was asked for", async () => {
    const shorter = await loadConfig({
      cwd: await project(),
      env: { ...stranger, MAESTRO_L1_MAX_DELAY_MS: "500" },
    });
    expect(shorter.config.attempts).toMatchObject({ baseDelayMs: 500, maxDelayMs: 500 });
    const longer = await loadConfig({
      cwd: await project(),
      env: { ...stranger, MAESTRO_L2_BASE_DELAY_MS: "60000" },
    });
    expect(longer.config.rounds).toMatchObject({ baseDelayMs: 60_000, maxDelayMs: 60_000 });
  });

  test("a very long value is cut in the message", async () => {
    const message = await refusal({ cwd: await project(), env: { MAESTRO_LEASE_MS: "9".repeat(100_000) } });
    expect(message.length).toBeLessThan(300);
  });

  test("also when a higher place overrides it", async () => {
    const env = { MAESTRO_LEASE_MS: "soon" };
    expect(await refusal({ cwd: await project(), env, flags: { leaseMs: 20_000 } })).toContain("leaseMs is");
  });
});

test("problems of several places are reported together", async () => {
  const cwd = await project({ "maestro.config.yaml": "modle: x\n" });
  const message = await refusal({ cwd, env: { MAESTRO_LEASE_MS: "1", MAESTRO_NONSENSE: "1" } });
  expect(message).toContain("The configuration has 3 problems:");
  expect(message.split("\n")).toHaveLength(4);
});

describe("a configuration file is refused", () => {
  test("when there are two, naming both", async () => {
    const cwd = await project({ "maestro.config.yaml": "", "maestro.config.json": "{}" });
    const message = await refusal({ cwd });
    expect(message).toContain(join(cwd, "maestro.config.yaml"));
    expect(message).toContain(join(cwd, "maestro.config.json"));
  });

  test.each([
    ["maestro.config.json", '{ "__proto__": { "leaseMs": 2000 } }'],
    ["maestro.config.json", '{ "attempts": { "__proto__": { "max": 9 } } }'],
    ["maestro.config.yaml", "__proto__: { leaseMs: 2000 }"],
    ["maestro.config.yaml", "attempts:\n  __proto__: { max: 9 }"],
    ["maestro.config.mjs", "export default JSON.parse('{\"__proto__\": {}}');"],
    ["maestro.config.mjs", "export default { __proto__: { leaseMs: 2000 } };"],
  ])("when it tampers with a prototype: %s %s", async (name, text) => {
    const message = await refusal({ cwd: await project({ [name]: text }) });
    expect(message).toContain(name);
    expect(({} as { leaseMs?: unknown }).leaseMs).toBeUndefined();
  });

  test("when it is too large", async () => {
    const cwd = await project({ "maestro.config.yaml": `# ${"x".repeat(1024 * 1024)}\n` });
    expect(await refusal({ cwd })).toContain("may have 1048576");
  });

  test.each([
    ["maestro.config.json", "{ nonsense"],
    ["maestro.config.yaml", "a: b: c"],
    ["maestro.config.yaml", "leaseMs: 2000\nleaseMs: 3000"],
    ["maestro.config.mjs", "export default {"],
    ["maestro.config.mjs", 'throw new Error("no such luck");'],
    ["maestro.config.mjs", "export const config = {};"],
    ["maestro.config.mjs", "export default () => ({});"],
    ["maestro.config.json", "[]"],
    ["maestro.config.json", '"text"'],
  ])("when it makes no sense: %s %s", async (name, text) => {
    const cwd = await project({ [name]: text });
    expect(await refusal({ cwd })).toContain(join(cwd, name));
  });

  test("when it is a directory", async () => {
    const cwd = await project();
    await mkdir(join(cwd, "maestro.config.js"));
    expect(await refusal({ cwd })).toContain("is not a regular file");
  });
});

test("an empty YAML file is an empty configuration", async () => {
  const cwd = await project({ "maestro.config.yml": "# nothing yet\n" });
  expect((await loadConfig({ cwd, env: stranger })).files).toEqual([join(cwd, "maestro.config.yml")]);
});
