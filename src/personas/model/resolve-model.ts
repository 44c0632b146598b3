import { advise } from "../../domain/advice.ts";
import { sha256 } from "../../domain/canonical.ts";
import { didYouMean } from "../../domain/closest.ts";
import { ConfigInvalid } from "../../domain/errors.ts";
import type { Json } from "../../domain/json.ts";
import { keepSecret } from "../../domain/redact.ts";
import { simulatedName } from "../../domain/simulated.ts";
import { modelName } from "./model-object.ts";
import type { Environment, ModelSources } from "./model-sources.ts";
import {
  createOptional,
  isOptional,
  optionalNames,
  optionalProviders,
  optionalSettings,
} from "./optional-providers.ts";
import { checkModelObject } from "./own-providers.ts";
import {
  compatible,
  isProvider,
  knownProviders,
  ownerOf,
  type ProviderName,
  type ProviderSettings,
  providers,
  readVariable,
} from "./provider-table.ts";
import type { AnyModel, Middleware, Model } from "./sdk-types.ts";
import type { SimulatedScript } from "./simulated/script.ts";

interface ResolveOptions extends ModelSources {
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
  { script, ...sources }: ResolveOptions,
): Promise<ResolvedModel> {
  const { env, objects = {}, own = {}, servers = {}, folders = [] } = sources;
  if (name === undefined || name.trim() === "") throw noModel(env);
  if (name === simulatedName) {
    const { simulatedModel } = await import("./simulated/simulated-model.ts");
    return { name, model: await simulatedModel(script), simulated: true };
  }
  const object = Object.hasOwn(objects, name) ? objects[name] : undefined;
  // Not shared: another team may have another object of the same name.
  if (object !== undefined) {
    const slash = name.indexOf("/");
    return named(name.slice(0, slash), name.slice(slash + 1), object as unknown as AnyModel, []);
  }
  const { provider, modelId } = parse(name, [...Object.keys(own), ...Object.keys(servers)]);
  const brought = Object.hasOwn(own, provider) ? own[provider] : undefined;
  // Not shared: the program may bring another one of the same name to another Maestro.
  if (brought !== undefined) {
    const model = checkModelObject(await brought(modelId), `providers.${provider}("${modelId}")`);
    return named(provider, modelId, model, []);
  }
  if (isOptional(provider)) {
    const settings = optionalSettings(provider, env);
    const { apiKey, secretAccessKey, sessionToken } = settings;
    return once([name, folders, settings], [apiKey, secretAccessKey, sessionToken], async () =>
      named(provider, modelId, await createOptional(provider, modelId, settings, folders), []),
    );
  }
  const server = Object.hasOwn(servers, provider) ? servers[provider] : undefined;
  if (server !== undefined) {
    const baseURL = checkUrl(server.baseUrl, `servers.${provider}.baseUrl`);
    const { keyVariable } = server;
    const apiKey = keyVariable === undefined ? undefined : readVariable(env, keyVariable);
    if (keyVariable !== undefined && apiKey === undefined) throw noKey(provider, keyVariable);
    const { create, middleware } = providers[compatible];
    return once([name, baseURL, apiKey ?? ""], [apiKey], async () =>
      named(provider, modelId, await create(modelId, { apiKey, baseURL }), middleware),
    );
  }
  const settings = settingsOf(provider as ProviderName, env);
  return once([name, settings.baseURL, settings.apiKey ?? ""], [settings.apiKey], async () => {
    const { create, middleware } = providers[provider as ProviderName];
    return named(provider, modelId, await create(modelId, settings), middleware);
  });
}

function once(
  identity: Json,
  secrets: readonly (string | undefined)[],
  create: () => Promise<ResolvedModel>,
): Promise<ResolvedModel> {
  const key = sha256(JSON.stringify(identity));
  const known = shared.get(key);
  if (known !== undefined) return known;
  // A server may repeat it in an error.
  keepSecret(secrets);
  const created = create();
  shared.set(key, created);
  created.catch(() => shared.delete(key));
  return created;
}

/** Under the name that the team wrote: packages call themselves otherwise ("amazon-bedrock"). */
async function named(
  provider: string,
  modelId: string,
  model: AnyModel,
  middleware: readonly Middleware[],
): Promise<ResolvedModel> {
  const { wrapLanguageModel } = await import("ai");
  const wrapped = wrapLanguageModel({
    model,
    // Without one the SDK wraps nothing, and the name would stay.
    middleware: [...middleware, { specificationVersion: "v4" }],
    providerId: provider,
    modelId,
  });
  return { name: modelName(wrapped), model: wrapped, simulated: false };
}

/** `more`: names of providers beside Maestro's own. */
function parse(
  name: string,
  more: readonly string[],
): { readonly provider: string; readonly modelId: string } {
  const slash = name.indexOf("/");
  const provider = slash === -1 ? name : name.slice(0, slash);
  const modelId = slash === -1 ? "" : name.slice(slash + 1);
  const known = [...knownProviders, ...more, ...optionalNames];
  const isKnown = known.includes(provider);
  if (isKnown && modelId !== "") return { provider, modelId };
  if (isKnown) {
    throw new ConfigInvalid(`The model "${name}" names a provider but no model.`, {
      advice: `Write provider/model, for example ${exampleOf(provider)}.`,
      details: { model: name },
    });
  }
  const owner = slash === -1 ? ownerOf(name) : undefined;
  const hint =
    owner === undefined
      ? didYouMean(provider, [...known, simulatedName])
      : ` Did you mean "${owner}/${name}"?`;
  throw new ConfigInvalid(`The model "${name}" has no provider that Maestro knows.${hint}`, {
    advice: `Write provider/model with one of: ${known.join(", ")}; or ${simulatedName}.`,
    details: { model: name },
  });
}

function exampleOf(provider: string): string {
  if (isProvider(provider)) return providers[provider].example;
  return isOptional(provider) ? optionalProviders[provider].example : `${provider}/<model>`;
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

function noKey(provider: string, variable: string): ConfigInvalid {
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
