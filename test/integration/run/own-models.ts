import { durableModel, type PersonaContext } from "../../../src/index.ts";
import type { CallOptions, GenerateResult, Model } from "../../../src/personas/model/sdk-types.ts";

/** Without output it says nothing, as one that was cut before its first word. */
export const answer = (input: number, output: number): GenerateResult => ({
  content: output === 0 ? [] : [{ type: "text", text: "hi" }],
  finishReason: output === 0 ? { unified: "length", raw: "length" } : { unified: "stop", raw: "stop" },
  warnings: [],
  usage: {
    inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: output, text: output, reasoning: 0 },
  },
});

/** A model of a user's own agent, with a published price: $1.25 a million tokens in, $10 out. */
export function ownModel(doGenerate: (options: CallOptions) => Promise<GenerateResult>): Model {
  return {
    specificationVersion: "v4",
    provider: "openai.responses",
    modelId: "gpt-5",
    supportedUrls: {},
    doGenerate,
    doStream: () => Promise.reject(new Error("not asked")),
  };
}

export const ask = (model: Model, context: PersonaContext, text: string, maxOutputTokens = 10) =>
  durableModel(model, context).doGenerate({
    maxOutputTokens,
    prompt: [{ role: "user", content: [{ type: "text", text }] }],
  });
