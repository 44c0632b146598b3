import type { Failure } from "../../domain/failure.ts";
import type { Healer, HealingCase } from "./healer.ts";

/** A model that cannot be used is replaced by the next one that the persona names. */
export const fallBackToOtherModel: Healer = {
  name: "fallback-model",
  categories: ["AUTH", "API_ERROR", "RATE_LIMIT", "TIMEOUT", "RESOURCE"],
  heal: async (sick) => {
    const next = nextModel(sick);
    if (sick.model === undefined || next === undefined || !isHopeless(sick)) return undefined;
    return { action: { kind: "switched-model", from: sick.model, to: next } };
  },
};

function nextModel({ model, fallbackModels }: HealingCase): string | undefined {
  const all = [model, ...fallbackModels];
  return all[all.lastIndexOf(model) + 1];
}

/**
 * One outage passes by itself; what trying again cannot mend, and a call that has failed twice, does not. Answers that
 * were paid in between say that the model can be used: another one would begin the conversation anew.
 */
function isHopeless({ failure, earlier, hasProgressed, settings }: HealingCase): boolean {
  if (!failure.recoverable) return true;
  if (failure.code === "context_length_exceeded") return (settings.contextShare ?? 1) < 0.25;
  return (
    failure.outage &&
    !hasProgressed &&
    earlier.at(-1)?.category === failure.category &&
    isOutage(earlier.at(-1))
  );
}

const isOutage = (failure: Failure | undefined): boolean => failure?.outage === true;
