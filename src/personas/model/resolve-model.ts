import { advise } from "../../domain/advice.ts";
import { sha256 } from "../../domain/canonical.ts";
import { didYouMean } from "../../domain/closest.ts";
import { ConfigInvalid } from "../../domain/errors.ts";
import { keepSecret } from "../../domain/redact.ts";
import { simulatedName } from "../../domain/simulated.ts";
import { modelName } from "./durable-model.ts";
import {
  type Environment,
  isProvider,
  knownProviders,
  ownerOf,
  type ProviderName,
  type ProviderSettings,
  providers,
  readVariable,
} from "./provider-table.ts";
import type { Model } from "./sdk-types.ts";
import type { SimulatedScript } from "./simulated/script.ts";

export type { Environment } from "./provider-table.ts";

interface ResolveOptions {
  readonly env: Environment;
  /** The script of the simulated model, or the path of its file. */
  readonly script?: SimulatedScript | string | undefined;
}

interface ResolvedModel {
  /** "anthropic/claude-sonnet-4-5": the name in prices, breakers and journals. */
  readonly name: string;
  readonly model: Model;
  readonly simulated: boolean;
}

/** One object per model and process: ten thousand waiting calls must not mean ten thousand clients. */
const shared = new Map<string, Promise<ResolvedModel>>();

/** Resolves "provider/model" or "simulated". Throws what is missing; never falls back to another model. */
export async function resolveModel(
  name: string | undefined,
  { env, script }: ResolveOptions,
): Promise<ResolvedModel> {
  if (name === undefined || name.trim() === "") throw noModel(env);
  if (name === simulatedName) {
    const { simulatedModel } = await import("./simulated/simulated-model.ts");
    return { name, model: await simulatedModel(script), simulated: true };
  }
  const { provider, modelId } = parse(name);
  const settings = settingsOf(provider, env);
  const key = JSON.stringify([name, settings.baseURL, sha256(settings.apiKey ?? "")]);
  const known = shared.get(key);
  if (known !== undefined) return known;
  const created = create(provider, modelId, settings);
  shared.set(key, created);
  created.catch(() => shared.delete(key));
  return created;
}

async function create(
  provider: ProviderName,
  modelId: string,
  settings: ProviderSettings,
): Promise<ResolvedModel> {
  const [{ wrapLanguageModel }, model] = await Promise.all([
    import("ai"),
    providers[provider].create(modelId, settings),
  ]);
  // A server may repeat it in an error.
  keepSecret([settings.apiKey]);
  return {
    name: modelName(model),
    model: wrapLanguageModel({ model, middleware: [...providers[provider].middleware] }),
    simulated: false,
  };
}

function parse(name: string): { readonly provider: ProviderName; readonly modelId: string } {
  const slash = name.indexOf("/");
  const provider = slash === -1 ? name : name.slice(0, slash);
  const modelId = slash === -1 ? "" : name.slice(slash + 1);
  const names = [...knownProviders, simulatedName];
  if (isProvider(provider) && modelId !== "") return { provider, modelId };
  if (isProvider(provider)) {
    throw new ConfigInvalid(`The model "${name}" names a provider but no model.`, {
      advice: `Write provider/model, for example ${providers[provider].example}.`,
      details: { model: name },
    });
  }
  const owner = slash === -1 ? ownerOf(name) : undefined;
  const hint = owner === undefined ? didYouMean(provider, names) : ` Did you mean "${owner}/${name}"?`;
  throw new ConfigInvalid(`The model "${name}" has no provider that Maestro knows.${hint}`, {
    advice: `Write provider/model with one of: ${knownProviders.join(", ")}; or ${simulatedName}.`,
    details: { model: name },
  });
}

function settingsOf(provider: ProviderName, env: Environment): ProviderSettings {
  const { keyVariable, baseUrlVariable, keyRequired, defaultBaseUrl } = providers[provider];
  const apiKey = readVariable(env, keyVariable);
  if (apiKey === undefined && keyRequired) throw noKey(provider, keyVariable);
  const baseURL = readVariable(env, baseUrlVariable) ?? defaultBaseUrl;
  if (baseURL === undefined) {
    throw new ConfigInvalid(`${provider} needs the address of its server: ${baseUrlVariable} is not set.`, {
      advice: `Set ${baseUrlVariable}, for example http://127.0.0.1:11434/v1; ${keyVariable} if the server asks for a key.`,
      details: { provider, variable: baseUrlVariable },
    });
  }
  return { apiKey, baseURL: checkUrl(baseURL, baseUrlVariable) };
}

function checkUrl(text: string, variable: string): string {
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol) && url.username === "") return text.replace(/\/+$/, "");
  // Not the value itself: it may hold a password.
  throw new ConfigInvalid(`${variable} is not an http or https address without a user name.`, {
    details: { variable },
    advice: `Correct ${variable}, for example https://api.example.org/v1; a key goes into its own variable.`,
  });
}

const offline = [
  advise(`Or add --model ${simulatedName} to try it offline.`),
  advise("Or watch a demonstration", "demo"),
];

function noKey(provider: ProviderName, variable: string): ConfigInvalid {
  const others = knownProviders.filter((other) => other !== provider);
  return new ConfigInvalid(`There is no key for ${provider}: ${variable} is not set.`, {
    advice: [
      advise(`Set ${variable}.`),
      advise(
        `Or choose another model with --model or MAESTRO_MODEL (${others.map((other) => providers[other].example).join(", ")}).`,
      ),
      ...offline,
    ],
    details: { provider, variable },
  });
}

function noModel(env: Environment): ConfigInvalid {
  const ready = knownProviders.filter((name) => readVariable(env, providers[name].keyVariable) !== undefined);
  const found = ready.length === 0 ? "" : ` There is a key for ${ready.join(" and ")}.`;
  return new ConfigInvalid(`No model is named.${found}`, {
    advice: [
      advise(
        `Name one with --model or MAESTRO_MODEL and set its key (${knownProviders.map((name) => `${providers[name].example} with ${providers[name].keyVariable}`).join("; ")}).`,
      ),
      advise("Or write `model:` in the team file."),
      ...offline,
    ],
  });
}
