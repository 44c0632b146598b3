import { InputInvalid } from "../domain/errors.ts";
import { keepSecret } from "../domain/redact.ts";
import { lazyModel } from "../models/lazy-model.ts";
import type { AnyModel, Model } from "../models/sdk-types.ts";
import type { FunctionContext, PersonaContext } from "./persona-context.ts";
import { pricingOf } from "./pricing.ts";

export interface OwnModelOptions {
  /** Keys that the model was made with. Those of the environment are known; from now on these are masked too. */
  readonly secrets?: readonly string[];
}

/**
 * Any language model of the AI SDK, for a persona whose work is code: each call is a durable step with journal, budget
 * and breaker, and a call whose answer was recorded is never made again.
 */
export function durableModel(
  model: AnyModel,
  context: PersonaContext,
  { secrets = [] }: OwnModelOptions = {},
): Model {
  if (typeof model !== "object" || model === null) {
    throw new InputInvalid("A durable model is made from a model object, not from its name.", {
      advice: 'Use a provider package, for instance openai("gpt-5").',
    });
  }
  const { runStep, signal, onText, progress, during, priceOf } = runningContext(context);
  const pricing = pricingOf(priceOf);
  keepSecret(secrets);
  return lazyModel(model, async () => {
    const models = await import("../models/durable-model.ts");
    return models.durableModel(model, { runStep, signal, onText, onProgress: progress, during, pricing });
  });
}

/** The types promise less than a running persona gets. */
function runningContext(context: PersonaContext): FunctionContext {
  if (typeof context === "object" && context !== null && "runStep" in context && "priceOf" in context)
    return context as FunctionContext;
  throw new InputInvalid("A durable model needs the context of a running persona.", {
    advice:
      "Pass on what the persona's function was called with: run: (ctx) => ... durableModel(model, ctx).",
  });
}
