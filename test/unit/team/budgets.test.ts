import { describe, expect, it } from "vitest";
import { defineTeam, durableModel, type PersonaContext, persona, phase } from "../../../src/index.ts";
import type { CallOptions, GenerateResult, Model } from "../../../src/models/sdk-types.ts";
import { TeamPlace } from "./place.ts";

const answer = (input: number, output: number): GenerateResult => ({
  content: [{ type: "text", text: "hi" }],
  finishReason: { unified: "stop", raw: "stop" },
  warnings: [],
  usage: {
    inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: output, text: output, reasoning: 0 },
  },
});

/** A published price: $1.25 a million tokens in, $10 out. */
function ownModel(doGenerate: (options: CallOptions) => Promise<GenerateResult>): Model {
  return {
    specificationVersion: "v4",
    provider: "openai.responses",
    modelId: "gpt-5",
    supportedUrls: {},
    doGenerate,
    doStream: () => Promise.reject(new Error("not asked")),
  };
}

const ask = (model: Model, context: PersonaContext, text: string, maxOutputTokens = 10) =>
  durableModel(model, context).doGenerate({
    maxOutputTokens,
    prompt: [{ role: "user", content: [{ type: "text", text }] }],
  });

describe("a budget of tokens", () => {
  /** Bills what the densest text there is would be billed for. */
  const perByte = ownModel(async ({ prompt }) => answer(Buffer.byteLength(JSON.stringify(prompt)), 1));

  const crowd = (tokens: number, members: number) =>
    defineTeam("dense", {
      budget: { tokens },
      phases: [
        phase("all", {
          personas: Array.from({ length: members }, (_, index) =>
            persona(`member-${index}`, {
              run: async (context) => {
                await ask(perByte, context, `${index}${"\u{12000}".repeat(12_000)}`);
                return { summary: "done" };
              },
            }),
          ),
        }),
      ],
    });

  it("is never passed, also when every byte is billed as a token", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const session = await maestro.start(crowd(100_000, 4), { brief: "b" });
    expect(await session.result()).toMatchObject({ status: "parked", reason: "budget" });
    const { budgets } = await maestro.show(session.id);
    expect(budgets[0]?.overrun).toBe(false);
    expect(budgets[0]?.used.tokens).toBeLessThanOrEqual(100_000);
    expect(budgets[0]?.used.tokens).toBeGreaterThan(48_000);
  });

  it("that is enough for one call after the other is enough: they wait for each other", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const session = await maestro.start(crowd(196_000, 4), { brief: "b" });
    expect(await session.result()).toMatchObject({ status: "completed" });
    expect((await maestro.show(session.id)).budgets[0]).toMatchObject({ overrun: false });
  });
});
