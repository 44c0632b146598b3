import type { Failure } from "../../domain/failure.ts";
import type { Healer, HealingCase } from "./healer.ts";

/** Work that stood still twice in a row may take longer, up to what its team allows. One silence passes by itself. */
export const raiseLimit: Healer = {
  name: "raise-limit",
  categories: ["TIMEOUT"],
  heal: async ({ failure, earlier, timeoutMs, maxTimeoutMs }) => {
    const before = earlier.at(-1);
    // A dependency that does not answer in time is no silence of the work.
    const stoodStill = [failure, before].every(
      (each) => each?.category === "TIMEOUT" && isSilence(each.message),
    );
    const raisedMs = Math.min(timeoutMs * 2, maxTimeoutMs);
    if (!stoodStill || raisedMs <= timeoutMs) return undefined;
    return { action: { kind: "raised-limit", limit: "timeoutMs", from: timeoutMs, to: raisedMs } };
  },
};

const isSilence = (message: string): boolean => message.startsWith("No progress for ");

/** Answers that were cut again and again at the team's own limit may be longer, up to what the team allows. */
export const allowLongerAnswers: Healer = {
  name: "longer-answers",
  categories: ["CONTRACT"],
  heal: async ({ failure, outputTokens }) => {
    if (outputTokens === undefined || !/ answers cut at \d+ tokens\.$/.test(failure.message))
      return undefined;
    const { limit: from, most } = outputTokens;
    const to = Math.min(2 * from, most);
    return to <= from ? undefined : { action: { kind: "raised-limit", limit: "maxOutputTokens", from, to } };
  },
};

const smallestShare = 0.1;

/** A prompt that does not fit its model is tried again with half of what is optional in it. */
export const shortenContext: Healer = {
  name: "shorten-context",
  categories: ["RESOURCE"],
  heal: async ({ failure, settings }) => {
    if (failure.code !== "context_length_exceeded") return undefined;
    const from = settings.contextShare ?? 1;
    const to = from / 2;
    return to < smallestShare ? undefined : { action: { kind: "shortened-context", from, to } };
  },
};

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
