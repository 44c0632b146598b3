import type { FunctionContext } from "../../personas/function.ts";
import type { ModelSources } from "../../personas/model/model-sources.ts";
import { pricingOf } from "../../personas/model/usage.ts";
import type { AskModel } from "./classify-with-model.ts";
import type { PlannerCall } from "./planner-call.ts";

/** Asks the model of the session, with the limits of a persona's call. Its packages are loaded at the call. */
export function askModel(
  name: string | undefined,
  { runStep, signal }: Pick<PlannerCall, "runStep" | "signal">,
  { priceOf, ...sources }: ModelSources & { readonly priceOf: FunctionContext["priceOf"] },
): AskModel {
  return async ({ instructions, prompt, maxOutputTokens }) => {
    const [{ resolveModel }, { durableModel }] = await Promise.all([
      import("../../personas/model/resolve-model.ts"),
      import("../../personas/model/durable-model.ts"),
    ]);
    const resolved = await resolveModel(name, sources);
    const model = durableModel(resolved.model, {
      runStep,
      signal,
      pricing: pricingOf(priceOf),
      streamAlways: true,
      onWarning: () => {},
    });
    const { content, usage } = await model.doGenerate({
      prompt: [
        { role: "system", content: instructions },
        { role: "user", content: [{ type: "text", text: prompt }] },
      ],
      maxOutputTokens,
    });
    return {
      text: content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(""),
      model: resolved.name,
      inputTokens: usage.inputTokens.total,
      outputTokens: usage.outputTokens.total,
    };
  };
}
