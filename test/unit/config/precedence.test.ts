import { availableParallelism } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Config, SettingKey } from "../../../src/config/config.ts";
import { describeConfig, showSetting } from "../../../src/config/describe.ts";
import { type LoadOptions, loadConfig } from "../../../src/config/load.ts";
import { settingKeys, settings } from "../../../src/config/settings.ts";
import { project, stranger, trusting } from "./project.ts";

/** Allowed values of the setting, one for each place, from the lowest to the highest. */
function valuesFor(key: SettingKey): readonly unknown[] {
  if (typeof settings[key].default === "boolean") return [true, false, true, false];
  if (key === "breaker.threshold") return [6, 7, 8, 9];
  if (key === "prices")
    return [1, 2, 3, 4].map((input) => ({ "openai-compatible/llama": { input, output: 5 } }));
  if (key === "servers")
    return [1, 2, 3, 4].map((port) => ({ vllm: { baseUrl: `http://127.0.0.1:${port}/v1` } }));
  if (key === "limits.providers")
    return [1, 2, 3, 4].map((most) => ({ anthropic: { requestsPerMinute: most } }));
  if (key.startsWith("limits.")) return [1, 2, 3, 4].map((most) => ({ product: most }));
  if (key === "budget.dayUsd") return [1.5, 2, 2.25, 3];
  if (key === "server.publicUrl")
    return ["file", "environment", "code", "flag"].map((place) => `https://${place}.example`);
  if (key === "sandbox") return ["none", "none", "required", "none"];
  if (key === "budget.unpriced") return ["allow", "refuse", "allow", "refuse"];
  if (key.startsWith("budget.")) return [1_000, 2_000, 3_000, 4_000];
  if (typeof settings[key].default !== "number")
    return ["/of/file", "/of/environment", "/of/code", "/of/flag"];
  if (key.endsWith(".max")) return [4, 5, 6, 7];
  // Between every default base and the smallest longest wait, so that no pair is out of order.
  return key.startsWith("rounds") ? [5_001, 5_002, 5_003, 5_004] : [4_001, 4_002, 4_003, 4_004];
}

const asText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

function nest(key: SettingKey, value: unknown): Record<string, unknown> {
  const [head, rest] = key.split(".");
  return { [head ?? key]: rest === undefined ? value : { [rest]: value } };
}

async function valueAndOrigin(key: SettingKey, options: LoadOptions) {
  const loaded = await loadConfig(options);
  const described = describeConfig(loaded).find((setting) => setting.key === key);
  const raw = key
    .split(".")
    .reduce<unknown>((value, name) => (value as Record<string, unknown>)[name], loaded.config);
  // People see the value itself, unless it is a secret.
  expect(described?.value).toBe(
    settings[key].secret ? (raw === undefined ? "not set" : "set") : (raw ?? null),
  );
  return [raw ?? null, loaded.origins.get(key)];
}

test.each(settingKeys)("%s: flag over code over environment over file over default", async (key) => {
  const [ofFile, ofEnvironment, ofCode, ofFlag] = valuesFor(key);
  const { environment } = settings[key];
  const empty = await project();
  const cwd = await project({ "maestro.config.json": JSON.stringify(nest(key, ofFile)) });
  const file = join(cwd, "maestro.config.json");
  const env = { ...trusting, [environment]: asText(ofEnvironment) };
  const overrides = nest(key, ofCode);

  const atDefault = await valueAndOrigin(key, { cwd: empty, env: trusting });
  expect(atDefault).toEqual([settings[key].default ?? null, { kind: "default" }]);
  expect(await valueAndOrigin(key, { cwd, env: trusting })).toEqual([ofFile, { kind: "file", file }]);
  expect(await valueAndOrigin(key, { cwd, env })).toEqual([
    ofEnvironment,
    { kind: "environment", name: environment },
  ]);
  expect(await valueAndOrigin(key, { cwd, env, overrides })).toEqual([ofCode, { kind: "code" }]);
  const flags = { [key]: asText(ofFlag) };
  const [value, origin] = await valueAndOrigin(key, { cwd, env, overrides, flags });
  expect(value).toEqual(ofFlag);
  expect(origin).toMatchObject({ kind: "flag" });
});

test("without any configuration every setting has its default", async () => {
  const { config, files, leftOut } = await loadConfig({ cwd: await project(), env: trusting });
  const expected: Config = {
    stateDir: undefined,
    model: undefined,
    attempts: { max: 3, baseDelayMs: 1_000, maxDelayMs: 5_000, timeoutMs: 300_000 },
    rounds: { max: 2, baseDelayMs: 5_000, maxDelayMs: 20_000 },
    breaker: { threshold: 5, cooldownMs: 300_000 },
    jira: {
      baseUrl: undefined,
      email: undefined,
      apiToken: undefined,
      projectKey: undefined,
      allowInternal: false,
    },
    github: { repository: undefined, token: undefined, apiUrl: undefined, allowInternal: false },
    sandbox: "required",
    commands: { memoryMiB: 4_096, diskMiB: 4_096, processes: 512 + 64 * availableParallelism() },
    webhook: { url: undefined, secret: undefined, allowInternal: false },
    budget: { personaTokens: undefined, dayTokens: undefined, dayUsd: undefined, unpriced: "refuse" },
    prices: undefined,
    servers: undefined,
    providersFrom: undefined,
    leaseMs: 15_000,
    limits: { teams: undefined, models: undefined, queues: undefined, providers: undefined },
    simulatedScript: undefined,
    server: {
      host: "127.0.0.1",
      port: 4160,
      apiToken: undefined,
      places: 8,
      publicUrl: undefined,
      tlsCert: undefined,
      tlsKey: undefined,
      functionMemoryMb: 1_024,
    },
  };
  expect(config).toEqual(expected);
  expect(files).toEqual([]);
  expect(leftOut).toBeUndefined();
});

test("an empty variable and an undefined flag count as unset", async () => {
  const cwd = await project({ "maestro.config.yaml": "model: simulated\n" });
  const { config } = await loadConfig({
    cwd,
    env: { ...stranger, MAESTRO_MODEL: "", MAESTRO_TYPO: "" },
    flags: { model: undefined },
    overrides: { model: undefined, attempts: undefined },
  });
  expect(config.model).toBe("simulated");
});

test("a relative state directory is meant from the working directory", async () => {
  const cwd = await project({ "maestro.config.yaml": "stateDir: state\n" });
  const { config } = await loadConfig({ cwd, env: trusting });
  expect(config.stateDir).toBe(join(cwd, "state"));
});

test("the token of the HTTP API is a setting, and is never shown", async () => {
  const token = "not-for-the-eyes-of-others";
  const loaded = await loadConfig({ cwd: await project(), env: { ...stranger, MAESTRO_API_TOKEN: token } });
  expect(loaded.config.server.apiToken).toBe(token);
  expect(JSON.stringify(describeConfig(loaded))).not.toContain(token);
  const refused = loadConfig({ cwd: await project(), env: { ...stranger, MAESTRO_API_TOKEN: "two words" } });
  await expect(refused).rejects.toThrow(/server\.apiToken is a value that is kept secret/);
});

test("a setting with parts of its own is shown with them", () => {
  const prices = { "openai/gpt": { input: 1 } };
  expect(showSetting(prices)).toBe(JSON.stringify(prices));
  expect([showSetting(null), showSetting(15), showSetting(false)]).toEqual(["-", "15", "false"]);
});

test("each setting is described with its value, origin, variable and purpose", async () => {
  const cwd = await project({ "maestro.config.yaml": "attempts: { max: 5 }\n" });
  const loaded = await loadConfig({
    cwd,
    env: { ...stranger, MAESTRO_MODEL: "simulated" },
    flags: { stateDir: "/s" },
  });
  const described = describeConfig(loaded);
  expect(described).toHaveLength(settingKeys.length);
  const byKey = new Map(
    described.map(({ key, value, origin }) => [key, `${showSetting(value)} (${origin})`]),
  );
  expect(byKey.get("attempts.max")).toBe(`5 (file ${join(cwd, "maestro.config.yaml")})`);
  expect(byKey.get("model")).toBe("simulated (environment MAESTRO_MODEL)");
  expect(byKey.get("stateDir")).toBe("/s (flag --state-dir)");
  expect(byKey.get("leaseMs")).toBe("15000 (default)");
});
