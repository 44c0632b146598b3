import { durableModel, type PersonaContext } from "../../../src/index.ts";

/** A model that counts how often it is really asked; each answer takes 15 tokens. */
export function counted() {
  const asked: string[] = [];
  const model = {
    specificationVersion: "v4" as const,
    provider: "somebody.chat",
    modelId: "large",
    supportedUrls: {},
    doStream: () => Promise.reject(new Error("not asked here")),
    doGenerate: async ({ prompt }: { readonly prompt: unknown }) => {
      asked.push(JSON.stringify(prompt));
      return {
        content: [{ type: "text" as const, text: "an answer" }],
        finishReason: { unified: "stop" as const, raw: "stop" },
        usage: {
          inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
          outputTokens: { total: 5, text: 5, reasoning: 0 },
        },
        warnings: [],
      };
    },
  };
  const ask = async (context: PersonaContext, text: string) => {
    const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text }] }];
    await durableModel(model, context).doGenerate({ prompt });
  };
  return { asked, ask };
}
