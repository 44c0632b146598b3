import { isJsonObject } from "../../domain/json.ts";
import { boundedFetch } from "./bounded-fetch.ts";
import type { Environment } from "./model-sources.ts";
import type { CallOptions, Message, Middleware, Model } from "./sdk-types.ts";
import { withReadableUsage } from "./usage.ts";

export interface ProviderSettings {
  readonly apiKey: string | undefined;
  readonly baseURL: string;
}

interface Provider {
  readonly keyVariable: string;
  readonly keyRequired: boolean;
  readonly baseUrlVariable: string;
  readonly defaultBaseUrl: string | undefined;
  readonly example: string;
  /** Model names that are clear without their provider. */
  readonly owns: RegExp;
  /** Applied to the provider's own model, beneath the journal. */
  readonly middleware: readonly Middleware[];
  /** Loads the package: each takes a tenth of a second. */
  readonly create: (modelId: string, settings: ProviderSettings) => Promise<Model>;
}

const providerFetch = withReadableUsage(boundedFetch);

const ephemeral = { anthropic: { cacheControl: { type: "ephemeral" } } } as const;

/**
 * Marks for Anthropic what stays the same: tools, instructions, the task (of all attempts), and the conversation so far.
 * OpenAI and Google find it by themselves. It wraps the provider's model from within, beneath the journal: the marks move on
 * with each call and must not change what a call is found again by.
 */
const anthropicCaching: Middleware = {
  specificationVersion: "v4",
  transformParams: async ({ params }) => withCacheMarks(params),
};

function withCacheMarks(params: CallOptions): CallOptions {
  const { prompt, tools } = params;
  const lastSystem = prompt.findLastIndex(({ role }) => role === "system");
  const firstUser = prompt.findIndex(({ role }) => role === "user");
  const marked = new Set([lastSystem, prompt.length - 1]);
  const marksOf = (message: Message, index: number): Message => {
    const withTask = index === firstUser ? markTask(message) : message;
    return marked.has(index) ? mark(withTask) : withTask;
  };
  return {
    ...params,
    prompt: prompt.map(marksOf),
    ...(tools !== undefined && {
      tools: tools.map((tool, index) =>
        index === tools.length - 1 && tool.type === "function" ? mark(tool) : tool,
      ),
    }),
  };
}

/** The last part of the first message is about the attempt; what is before it is the task. */
function markTask(message: Message): Message {
  if (message.role !== "user") return message;
  const { content } = message;
  return {
    ...message,
    content: content.map((part, index) => (index === content.length - 2 ? mark(part) : part)),
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
const openaiStateless: Middleware = {
  specificationVersion: "v4",
  transformParams: async ({ params }) => ({
    ...params,
    providerOptions: {
      ...params.providerOptions,
      openai: { store: false, ...params.providerOptions?.["openai"] },
    },
  }),
};

/** Some servers of this protocol accept a message only as one text. */
const textsAsOne: Middleware = {
  specificationVersion: "v4",
  transformParams: async ({ params }) => ({ ...params, prompt: params.prompt.map(withOneText) }),
};

function withOneText(message: Message): Message {
  if (message.role !== "user" || message.content.length < 2) return message;
  const texts = message.content.flatMap((part) => (part.type === "text" ? [part.text] : []));
  if (texts.length < message.content.length) return message;
  return { ...message, content: [{ type: "text", text: texts.join("\n\n") }] };
}

/** Every provider. The team file, the configuration, `maestro doctor`, the server and error texts read this table. */
const table = {
  anthropic: {
    keyVariable: "ANTHROPIC_API_KEY",
    keyRequired: true,
    baseUrlVariable: "ANTHROPIC_BASE_URL",
    defaultBaseUrl: "https://api.anthropic.com/v1",
    example: "anthropic/claude-sonnet-4-5",
    owns: /^claude/i,
    middleware: [anthropicCaching],
    create: async (modelId, { apiKey, baseURL }) => {
      const { createAnthropic } = await import("@ai-sdk/anthropic");
      // Anthropic's own tools take the address without a version, the package with one.
      const versioned = /\/v\d+$/.test(baseURL) ? baseURL : `${baseURL}/v1`;
      return createAnthropic({ ...withKey(apiKey), baseURL: versioned, fetch: providerFetch })(modelId);
    },
  },
  openai: {
    keyVariable: "OPENAI_API_KEY",
    keyRequired: true,
    baseUrlVariable: "OPENAI_BASE_URL",
    defaultBaseUrl: "https://api.openai.com/v1",
    example: "openai/gpt-5",
    owns: /^(?:gpt|chatgpt|o\d)/i,
    middleware: [openaiStateless],
    create: async (modelId, { apiKey, baseURL }) => {
      const { createOpenAI } = await import("@ai-sdk/openai");
      return createOpenAI({ ...withKey(apiKey), baseURL, fetch: providerFetch }).responses(modelId);
    },
  },
  google: {
    keyVariable: "GOOGLE_GENERATIVE_AI_API_KEY",
    keyRequired: true,
    baseUrlVariable: "GOOGLE_GENERATIVE_AI_BASE_URL",
    defaultBaseUrl: "https://generativelanguage.googleapis.com/v1beta",
    example: "google/gemini-2.5-pro",
    owns: /^gemini/i,
    middleware: [],
    create: async (modelId, { apiKey, baseURL }) => {
      const { createGoogleGenerativeAI } = await import("@ai-sdk/google");
      return createGoogleGenerativeAI({ ...withKey(apiKey), baseURL, fetch: providerFetch })(modelId);
    },
  },
  "openai-compatible": {
    keyVariable: "OPENAI_COMPATIBLE_API_KEY",
    // A self-hosted server often asks for none.
    keyRequired: false,
    baseUrlVariable: "OPENAI_COMPATIBLE_BASE_URL",
    defaultBaseUrl: undefined,
    example: "openai-compatible/llama-3.3-70b",
    owns: /^(?:llama|qwen|mistral|deepseek)/i,
    middleware: [textsAsOne],
    create: async (modelId, { apiKey, baseURL }) => {
      const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
      const provider = createOpenAICompatible({
        name: "openai-compatible",
        ...withKey(apiKey),
        baseURL,
        // Without it a streamed answer reports no usage.
        includeUsage: true,
        fetch: providerFetch,
      });
      return provider.chatModel(modelId);
    },
  },
} as const satisfies Record<string, Provider>;

/** The names that published prices have for optional providers, where they are others. */
export const publishedNames: Readonly<Record<string, string>> = {
  bedrock: "aws",
  vertex: "google",
  xai: "x-ai",
  togetherai: "together",
};

/** Names beside its own under which a provider reads options. */
export const alsoRead: Readonly<Record<string, readonly string[]>> = {
  azure: ["openai"],
  bedrock: ["anthropic"],
  vertex: ["google", "googleVertex"],
};

/** It passes a call on to a provider of any name. */
export const gateway = "openrouter";

const leastThinkingTokens = 1_024;

/** The tokens that Anthropic's package allows for thoughts, on top of what the call asks for. */
export function thinkingTokens({ providerOptions }: CallOptions): number {
  const thinking = providerOptions?.["anthropic"]?.["thinking"];
  const { type, budgetTokens } = isJsonObject(thinking) ? thinking : {};
  if (type !== "enabled") return 0;
  return Math.max(leastThinkingTokens, typeof budgetTokens === "number" ? budgetTokens : 0);
}

export type ProviderName = keyof typeof table;

/** The protocol of servers with names of their own. */
export const compatible: ProviderName = "openai-compatible";

export const providers: Readonly<Record<ProviderName, Provider>> = table;
export const knownProviders = Object.keys(table) as readonly ProviderName[];

export const isProvider = (name: string): name is ProviderName => Object.hasOwn(table, name);

/** The provider of a model whose name was written without one: "claude-sonnet-4-5". */
export const ownerOf = (modelId: string): ProviderName | undefined =>
  knownProviders.find((name) => providers[name].owns.test(modelId));

export const readVariable = (env: Environment, variable: string): string | undefined =>
  env[variable]?.trim() || undefined;

/** Whether a call could be made from here: there is an address, and a key where the provider asks for one. */
export function isReady(name: ProviderName, env: Environment): boolean {
  const { keyVariable, keyRequired, baseUrlVariable, defaultBaseUrl } = providers[name];
  const hasAddress = (readVariable(env, baseUrlVariable) ?? defaultBaseUrl) !== undefined;
  return hasAddress && (!keyRequired || readVariable(env, keyVariable) !== undefined);
}

const withKey = (apiKey: string | undefined) => (apiKey === undefined ? {} : { apiKey });
