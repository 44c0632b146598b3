import type { Content, GenerateResult, Model } from "../../../src/personas/model/sdk-types.ts";

export const usage = (input: number, output: number): GenerateResult["usage"] => ({
  inputTokens: { total: input, noCache: input, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: output, text: output, reasoning: undefined },
});

/** A user's own model. */
export function ownModel(more: Partial<Model>): Model {
  const never = () => Promise.reject(new Error("not asked"));
  return {
    specificationVersion: "v4",
    provider: "own.chat",
    modelId: "m-1",
    supportedUrls: {},
    doGenerate: never,
    doStream: never,
    ...more,
  };
}

export const answering = (content: Content[], tokens = usage(100, 10)): Model =>
  ownModel({
    doGenerate: async () => ({
      content,
      finishReason: { unified: "stop", raw: undefined },
      usage: tokens,
      warnings: [],
      response: {
        id: "r",
        timestamp: new Date(0),
        modelId: "m-1-0815",
        headers: { a: "b" },
        body: { big: 1 },
      },
      request: { body: "the whole prompt" },
    }),
  });

export const text = (value: string): Content[] => [{ type: "text", text: value }];
