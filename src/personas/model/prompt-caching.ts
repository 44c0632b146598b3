import type { CallOptions, Message, Middleware } from "./sdk-types.ts";

const ephemeral = { anthropic: { cacheControl: { type: "ephemeral" } } } as const;

/**
 * Marks for Anthropic what stays the same from call to call: tools, instructions, and the conversation so far. OpenAI
 * and Google find it by themselves. It wraps the provider's model from within, beneath the journal: the marks move on
 * with each call and must not change what a call is found again by.
 */
export const anthropicCaching: Middleware = {
  specificationVersion: "v4",
  transformParams: async ({ params }) => withCacheMarks(params),
};

export function withCacheMarks(params: CallOptions): CallOptions {
  const { prompt, tools } = params;
  const lastSystem = prompt.findLastIndex(({ role }) => role === "system");
  const marked = new Set([lastSystem, prompt.length - 1]);
  return {
    ...params,
    prompt: prompt.map((message, index): Message => (marked.has(index) ? mark(message) : message)),
    ...(tools !== undefined && {
      tools: tools.map((tool, index) =>
        index === tools.length - 1 && tool.type === "function" ? mark(tool) : tool,
      ),
    }),
  };
}

/** A mark that the caller set stays. */
const mark = <T extends { providerOptions?: CallOptions["providerOptions"] }>(item: T): T => ({
  ...item,
  providerOptions: {
    ...item.providerOptions,
    anthropic: { ...ephemeral.anthropic, ...item.providerOptions?.["anthropic"] },
  },
});

/**
 * OpenAI stores nothing: a conversation that resumes next month, or on another machine, must not depend on the provider's
 * memory. Reasoning then travels encrypted within the prompt.
 */
export const openaiStateless: Middleware = {
  specificationVersion: "v4",
  transformParams: async ({ params }) => ({
    ...params,
    providerOptions: {
      ...params.providerOptions,
      openai: { store: false, ...params.providerOptions?.["openai"] },
    },
  }),
};
