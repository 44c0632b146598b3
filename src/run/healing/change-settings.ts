import type { Failure } from "../../domain/failure.ts";
import type { Healer, HealingCase } from "./healer.ts";

/** Raises the timeout after two silent attempts in a row, up to the limit of the team. One silence may be an accident. */
export const raiseLimit: Healer = {
  name: "raise-limit",
  categories: ["TIMEOUT"],
  heal: async ({ failure, earlier, timeoutMs, maxTimeoutMs }) => {
    const before = earlier.at(-1);
    // A dependency that does not answer in time is not a silence of the work.
    const stoodStill = [failure, before].every(
      (each) => each?.category === "TIMEOUT" && isSilence(each.message),
    );
    const raisedMs = Math.min(timeoutMs * 2, maxTimeoutMs);
    if (!stoodStill || raisedMs <= timeoutMs) return undefined;
    return { action: { kind: "raised-limit", limit: "timeoutMs", from: timeoutMs, to: raisedMs } };
  },
};

const isSilence = (message: string): boolean => message.startsWith("No progress for ");

/** Raises the limit of answers that were cut repeatedly, up to the limit of the team. */
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

/** Halves the optional part of a prompt that is too long for its model. */
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

/** Replaces a model that cannot be used by the next fallback model of the persona. */
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
 * One outage may pass. A permanent failure, and a call that failed twice in a row, do not. Paid answers in between show
 * that the model works: another model would have to start the conversation again.
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
