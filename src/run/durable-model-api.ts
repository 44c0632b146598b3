import { InputInvalid } from "../domain/errors.ts";
import type { ModelPorts, PersonaContext } from "../personas/function.ts";
import { lazyModel } from "../personas/model/lazy-model.ts";
import type { LanguageModelObject } from "../personas/model/model-object.ts";
import type { AnyModel } from "../personas/model/sdk-types.ts";
import { pricingOf } from "../personas/model/usage.ts";

export interface OwnModelOptions {
  /** Keys the model was created with. Keys in the environment are masked already; these are masked from now on. */
  readonly secrets?: readonly string[];
}

// Only `any` fits the SDK's types without importing them.
// biome-ignore lint/suspicious/noExplicitAny: see above
// oxlint-disable-next-line typescript/no-explicit-any
type OfSdk = any;

/** Fits wherever the AI SDK takes a `LanguageModel`; assign it to the SDK's type to call it with typed options. */
export interface DurableModel {
  readonly specificationVersion: "v4";
  readonly provider: string;
  readonly modelId: string;
  readonly supportedUrls: PromiseLike<Record<string, RegExp[]>> | Record<string, RegExp[]>;
  doGenerate(options: OfSdk): PromiseLike<OfSdk>;
  doStream(options: OfSdk): PromiseLike<OfSdk>;
}

/**
 * Wraps a language model of the AI SDK for a persona that is code: each call is a durable step with journal, budget and
 * breaker, and a recorded answer is never requested again.
 */
export function durableModel(
  model: LanguageModelObject,
  context: PersonaContext,
  { secrets = [] }: OwnModelOptions = {},
): DurableModel {
  if (typeof model !== "object" || model === null) {
    throw new InputInvalid("durableModel takes a model object, not its name.", {
      advice: 'Use a provider package, for example openai("gpt-5").',
    });
  }
  const { runStep, signal, onText, progress, during, priceOf, keepSecret } = runningContext(context);
  const pricing = pricingOf(priceOf);
  keepSecret(secrets);
  const given = model as unknown as AnyModel;
  return lazyModel(given, async () => {
    const models = await import("../personas/model/durable-model.ts");
    return models.durableModel(given, { runStep, signal, onText, onProgress: progress, during, pricing });
  });
}

/** A running persona's context has more members than its public type. */
function runningContext(context: PersonaContext): ModelPorts {
  if (typeof context === "object" && context !== null && "runStep" in context && "priceOf" in context)
    return context as PersonaContext & ModelPorts;
  throw new InputInvalid("durableModel needs the context of a running persona.", {
    advice:
      "Pass the context that the persona's function receives: run: (ctx) => ... durableModel(model, ctx).",
  });
}
