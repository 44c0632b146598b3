import { readProperty } from "../../domain/bounded-json.ts";
import { RecoverableError } from "../../domain/errors.ts";

/** How the providers say that a prompt does not fit; the status (400 or 413) is that of any wrong request. */
export const overflowWords =
  /context_length_exceeded|maximum context length|context (?:window|length|size)[^.]{0,40}exceed|exceed[^.]{0,60}context (?:window|length|size|limit)|prompt is too long|input is too long|input token count[^.]{0,40}exceeds|too many (?:input )?tokens|request_too_large|request exceeds the maximum size|reduce the length of (?:the|your) (?:messages|prompt)|string_above_max_length|context the overflows|loaded with context length of only/i;

const overflowCode = "context_length_exceeded";

/** The prompt does not fit the model. A healer can shorten it, or ask a model with a larger window. */
export class ContextOverflow extends RecoverableError {
  /** Also after it was recorded and read back as what it extends. */
  static isOverflow(error: unknown): boolean {
    return RecoverableError.is(error) && error.details["reason"] === overflowCode;
  }
}

/** The error itself, or what it is for a healer. */
export function recognizeOverflow(error: unknown, model: string): unknown {
  if (!saysOverflow(error)) return error;
  return new ContextOverflow(`The prompt does not fit the context window of ${model}.`, {
    details: { reason: overflowCode, model },
    advice: "Shorten the context, or use a model with a larger window.",
    cause: error,
  });
}

function saysOverflow(error: unknown): boolean {
  if (typeof error !== "object" || error === null) return false;
  const status = readProperty(error, "statusCode");
  // A limit per minute is also worded in tokens, but comes as 429; an outage that quotes the prompt comes as 5xx.
  if (typeof status !== "number" || (status !== 400 && status !== 413 && status !== 422)) return false;
  const words = [readProperty(error, "message"), readProperty(error, "responseBody")];
  return words.some((text) => typeof text === "string" && overflowWords.test(text.slice(0, 8000)));
}
