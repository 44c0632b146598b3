import { describe, expect, test } from "vitest";
import { ConfigInvalid } from "../../../src/domain/errors.ts";
import { resolveModel } from "../../../src/personas/model/resolve-model.ts";

const key = { ANTHROPIC_API_KEY: "sk-ant-test-0123456789" };

async function refusal(name: string | undefined, env: Record<string, string> = {}): Promise<ConfigInvalid> {
  const error: unknown = await resolveModel(name, { env }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ConfigInvalid);
  return error as ConfigInvalid;
}

describe("a model that cannot be had is an error that says what to do", () => {
  test("no key: the three ways to get on, and no fall to something else", async () => {
    const { message, advice } = await refusal("anthropic/claude-sonnet-4-5");
    expect(message).toBe("There is no key for anthropic: ANTHROPIC_API_KEY is not set.");
    expect(advice).toMatch(/Set ANTHROPIC_API_KEY.*--model or MAESTRO_MODEL.*maestro demo/);
  });

  test("no model named: the same, and which keys there are", async () => {
    const { message, advice } = await refusal(undefined, key);
    expect(message).toBe("No model is named. There is a key for anthropic.");
    expect(advice).toMatch(/MAESTRO_MODEL.*model:.*maestro demo/);
    expect((await refusal(" ")).message).toBe("No model is named.");
  });

  test.each([
    ["antropic/claude", 'Did you mean "anthropic"?'],
    ["gpt-5", 'Did you mean "openai/gpt-5"?'],
    ["claude-sonnet-4-5", 'Did you mean "anthropic/claude-sonnet-4-5"?'],
    ["simulatd", 'Did you mean "simulated"?'],
    ["constructor/x", "has no provider"],
  ])("%s: the closest right one", async (name, hint) => {
    expect((await refusal(name)).message).toContain(hint);
  });

  test("a provider without a model, and an address that is none", async () => {
    expect((await refusal("openai/")).message).toContain("names a provider but no model");
    expect((await refusal("openai")).advice).toContain("openai/gpt-5");
    const wrong = { ...key, ANTHROPIC_BASE_URL: "https://me:secret@example.org" };
    const { message } = await refusal("anthropic/claude", wrong);
    expect(message).toContain("ANTHROPIC_BASE_URL is not an http or https address");
    expect(message).not.toContain("secret");
  });

  test("a server of one's own needs its address, and no key", async () => {
    expect((await refusal("openai-compatible/llama")).message).toContain(
      "OPENAI_COMPATIBLE_BASE_URL is not set",
    );
    const env = { OPENAI_COMPATIBLE_BASE_URL: "http://127.0.0.1:1/v1" };
    expect(await resolveModel("openai-compatible/org/llama-3", { env })).toMatchObject({
      name: "openai-compatible/org/llama-3",
      simulated: false,
    });
  });
});

test("one model is one object for the whole process, but another key is another model", async () => {
  const [first, again] = await Promise.all([
    resolveModel("anthropic/claude-sonnet-4-5", { env: key }),
    resolveModel("anthropic/claude-sonnet-4-5", { env: { ...key } }),
  ]);
  expect(again.model).toBe(first.model);
  expect(first.name).toBe("anthropic/claude-sonnet-4-5");
  const other = await resolveModel("anthropic/claude-sonnet-4-5", {
    env: { ANTHROPIC_API_KEY: "another-key" },
  });
  expect(other.model).not.toBe(first.model);
});

test("the simulated model is never anything but simulated", async () => {
  const { name, model, simulated } = await resolveModel("simulated", { env: key });
  expect({ name, simulated, provider: model.provider, id: model.modelId }).toEqual({
    name: "simulated",
    simulated: true,
    provider: "simulated",
    id: "simulated",
  });
});
