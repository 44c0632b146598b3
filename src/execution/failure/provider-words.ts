import { overflowWords } from "../../models/context-overflow.ts";
import type { Verdict } from "./verdict.ts";

/**
 * Providers say these only in words or in their own codes, under statuses that mean something else: an overflow
 * is a 400, an empty account is a 429 at OpenAI, a 400 at Anthropic and a 402 elsewhere.
 */
const noCredit =
  /insufficient_quota|exceeded your current quota|billing_hard_limit|credit balance is too low|insufficient (?:balance|credits?|funds)|requires more credits|payment required|billing_not_active/i;

const badKey =
  /api[_ ]key[_ ](?:not valid|invalid)|API_KEY_INVALID|(?:invalid|incorrect) (?:x-)?api[-_ ]key|invalid_api_key/i;

const noSuchModel =
  /model_not_found|model[^.]{0,80}(?:does not exist|not found)|not_found_error[^}]{0,40}model|is not found for API version/i;

/** Longer texts are bodies of bulk data; the reason stands at their beginning. */
const maxWords = 8000;

export function readProviderWords(text: string, status: number | undefined): Verdict | undefined {
  const words = text.slice(0, maxWords);
  const throttled = status === 429;
  if (!throttled && (status === undefined || status < 500) && overflowWords.test(words)) {
    return {
      category: "RESOURCE",
      code: "context_length_exceeded",
      recoverable: true,
      suggestedFix: "Shorten the context, or use a model with a larger window.",
    };
  }
  // Google words its limits per minute like an empty account; it alone says RESOURCE_EXHAUSTED.
  const perMinute = throttled && /RESOURCE_EXHAUSTED/.test(words);
  if (status === 402 || (!perMinute && noCredit.test(words))) {
    // AUTH, not RATE_LIMIT: waiting does not fill an account, a person must.
    return {
      category: "AUTH",
      code: "insufficient_quota",
      suggestedFix: "Add credit to the provider's account or use another key, then resume.",
    };
  }
  if (badKey.test(words)) return { category: "AUTH", code: "invalid_api_key" };
  if (status === 404 && noSuchModel.test(words)) {
    return {
      category: "API_ERROR",
      code: "model_not_found",
      recoverable: false,
      suggestedFix: "Correct the model's name, or ask the provider for access to it.",
    };
  }
  return undefined;
}
