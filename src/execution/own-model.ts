import { type ModelPrice, spentOn, worstCase } from "../cost/model-price.ts";
import { InputInvalid } from "../domain/errors.ts";
import type { Pricing } from "../models/ports.ts";
import type { AnyModel, Model } from "../models/sdk-types.ts";
import type { FunctionContext, PersonaContext } from "./persona-context.ts";

/**
 * Any language model of the AI SDK, for a persona whose work is code: each call is a durable step with journal, budget
 * and breaker, and a call whose answer was recorded is never made again.
 */
export function durableModel(model: AnyModel, context: PersonaContext): Model {
  if (typeof model !== "object" || model === null) {
    throw new InputInvalid("A durable model is made from a model object, not from its name.", {
      advice: 'Use a provider package, for instance openai("gpt-5").',
    });
  }
  const { runStep, signal, onText, progress, during, priceOf } = runningContext(context);
  let wrapped: Promise<Model> | undefined;
  // Loaded at the first call: whoever imports the library may never make one.
  const load = (): Promise<Model> => {
    wrapped ??= import("../models/durable-model.ts").then((models) =>
      models.durableModel(model, {
        runStep,
        signal,
        onText,
        onProgress: progress,
        during,
        pricing: pricingOf(priceOf),
      }),
    );
    return wrapped;
  };
  return {
    specificationVersion: "v4",
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    doGenerate: async (options) => (await load()).doGenerate(options),
    doStream: async (options) => (await load()).doStream(options),
  };
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

/** What was reserved and what is settled are at the same price. */
function pricingOf(priceOf: FunctionContext["priceOf"]): Pricing {
  const known = new Map<string, ModelPrice | null>();
  return {
    worstCase: async (model, inputTokens, maxOutputTokens) => {
      const price = await priceOf(model);
      known.set(model, price);
      return worstCase(price, inputTokens, maxOutputTokens);
    },
    spent: (model, usage) => spentOn(known.get(model) ?? null, usage),
  };
}
