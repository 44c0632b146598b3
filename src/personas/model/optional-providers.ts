import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ConfigInvalid } from "../../domain/errors.ts";
import { boundedFetch } from "./bounded-fetch.ts";
import type { Environment } from "./model-sources.ts";
import { readVariable } from "./provider-table.ts";
import type { AnyModel } from "./sdk-types.ts";
import { withReadableUsage } from "./usage.ts";

/** A provider whose package is used when it is installed. */
interface OptionalProvider {
  readonly package: string;
  /** The export that makes the provider. */
  readonly factory: string;
  /** Variables without which no call could be made. */
  readonly needs: readonly string[];
  /** Option of the factory by the variable that sets it; the first one is the key. */
  readonly options: Readonly<Record<string, string>>;
  readonly example: string;
}

const keyed = (
  name: string,
  factory: string,
  prefix: string,
  example: string,
  from = `@ai-sdk/${name}`,
): OptionalProvider => ({
  package: from,
  factory,
  needs: [`${prefix}_API_KEY`],
  options: { apiKey: `${prefix}_API_KEY`, baseURL: `${prefix}_BASE_URL` },
  example,
});

export const optionalProviders = {
  bedrock: {
    package: "@ai-sdk/amazon-bedrock",
    factory: "createAmazonBedrock",
    needs: ["AWS_REGION"],
    options: {
      apiKey: "AWS_BEARER_TOKEN_BEDROCK",
      region: "AWS_REGION",
      accessKeyId: "AWS_ACCESS_KEY_ID",
      secretAccessKey: "AWS_SECRET_ACCESS_KEY",
      sessionToken: "AWS_SESSION_TOKEN",
      baseURL: "BEDROCK_BASE_URL",
    },
    example: "bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0",
  },
  azure: {
    package: "@ai-sdk/azure",
    factory: "createAzure",
    needs: ["AZURE_API_KEY"],
    options: { apiKey: "AZURE_API_KEY", resourceName: "AZURE_RESOURCE_NAME", baseURL: "AZURE_BASE_URL" },
    example: "azure/my-deployment",
  },
  vertex: {
    package: "@ai-sdk/google-vertex",
    factory: "createVertex",
    needs: ["GOOGLE_VERTEX_PROJECT", "GOOGLE_VERTEX_LOCATION"],
    options: {
      apiKey: "GOOGLE_VERTEX_API_KEY",
      project: "GOOGLE_VERTEX_PROJECT",
      location: "GOOGLE_VERTEX_LOCATION",
      baseURL: "GOOGLE_VERTEX_BASE_URL",
    },
    example: "vertex/gemini-2.5-pro",
  },
  openrouter: keyed(
    "openrouter",
    "createOpenRouter",
    "OPENROUTER",
    "openrouter/anthropic/claude-sonnet-4.5",
    "@openrouter/ai-sdk-provider",
  ),
  mistral: keyed("mistral", "createMistral", "MISTRAL", "mistral/mistral-large-latest"),
  xai: keyed("xai", "createXai", "XAI", "xai/grok-4"),
  groq: keyed("groq", "createGroq", "GROQ", "groq/llama-3.3-70b-versatile"),
  cohere: keyed("cohere", "createCohere", "COHERE", "cohere/command-a-03-2025"),
  deepseek: keyed("deepseek", "createDeepSeek", "DEEPSEEK", "deepseek/deepseek-chat"),
  togetherai: keyed(
    "togetherai",
    "createTogetherAI",
    "TOGETHER",
    "togetherai/meta-llama/Llama-3.3-70B-Instruct-Turbo",
  ),
  fireworks: keyed(
    "fireworks",
    "createFireworks",
    "FIREWORKS",
    "fireworks/accounts/fireworks/models/deepseek-v3p2",
  ),
  cerebras: keyed("cerebras", "createCerebras", "CEREBRAS", "cerebras/llama-3.3-70b"),
  perplexity: keyed("perplexity", "createPerplexity", "PERPLEXITY", "perplexity/sonar-pro"),
} as const satisfies Record<string, OptionalProvider>;

export type OptionalName = keyof typeof optionalProviders;
export const optionalNames = Object.keys(optionalProviders) as readonly OptionalName[];
export const isOptional = (name: string): name is OptionalName => Object.hasOwn(optionalProviders, name);

/** The values of the provider's variables, by option of its factory. */
export function optionalSettings(name: OptionalName, env: Environment): Readonly<Record<string, string>> {
  const { needs, options, package: from }: OptionalProvider = optionalProviders[name];
  const missing = needs.find((variable) => readVariable(env, variable) === undefined);
  if (missing !== undefined) {
    throw new ConfigInvalid(`The provider ${name} needs ${missing}, which is not set.`, {
      advice: `Set ${missing}. The provider's package is ${from}.`,
      details: { provider: name, variable: missing },
    });
  }
  return Object.fromEntries(
    Object.entries(options).flatMap(([option, variable]) => {
      const value = readVariable(env, variable);
      return value === undefined ? [] : [[option, value]];
    }),
  );
}

/** `folders`: where the package may be installed besides beside Maestro. */
export async function createOptional(
  name: OptionalName,
  modelId: string,
  settings: Readonly<Record<string, string>>,
  folders: readonly string[],
): Promise<AnyModel> {
  const { package: from, factory }: OptionalProvider = optionalProviders[name];
  const found = findPackage(from, folders);
  if (found === undefined) throw notInstalled(name, from);
  const loaded = (await import(pathToFileURL(found.entry).href)) as Record<string, unknown>;
  const create = loaded[factory];
  if (typeof create !== "function") throw await wrongVersion(name, from, found, `it has no ${factory}`);
  const provider: unknown = create({ ...settings, fetch: withReadableUsage(boundedFetch) });
  const model: unknown = typeof provider === "function" ? provider(modelId) : undefined;
  const version = (model as Partial<AnyModel> | undefined)?.specificationVersion;
  if (version === undefined || !["v2", "v3", "v4"].includes(version))
    throw await wrongVersion(name, from, found, `its models have the specification ${version ?? "none"}`);
  return model as AnyModel;
}

interface Found {
  readonly entry: string;
  readonly require: NodeJS.Require;
}

function findPackage(name: string, folders: readonly string[]): Found | undefined {
  for (const base of [import.meta.filename, ...folders.map((folder) => join(folder, "package.json"))]) {
    const require = createRequire(base);
    try {
      return { entry: require.resolve(name), require };
    } catch {
      // Not installed there.
    }
  }
  return undefined;
}

function notInstalled(provider: string, from: string): ConfigInvalid {
  return new ConfigInvalid(`The provider ${provider} needs the package ${from}, which is not installed.`, {
    advice: `Run: npm install ${from} (beside maestro-hive, or in a folder that MAESTRO_PROVIDERS_FROM names).`,
    details: { provider, package: from },
  });
}

async function wrongVersion(
  provider: string,
  from: string,
  { entry, require }: Found,
  why: string,
): Promise<ConfigInvalid> {
  const version = await versionOf(from, require).catch(() => "unknown");
  return new ConfigInvalid(`The package ${from} ${version} at ${entry} cannot be used: ${why}.`, {
    advice: `Install a version for AI SDK 7: npm install ${from}@latest`,
    details: { provider, package: from, version },
  });
}

/** Rejects where a package does not export its package.json. */
async function versionOf(from: string, require: NodeJS.Require): Promise<string> {
  const text = await readFile(require.resolve(`${from}/package.json`), "utf8");
  return String((JSON.parse(text) as { readonly version?: string }).version);
}
