import { type TokenUsage, totalTokens } from "../domain/usage.ts";

/** The call before in the same conversation, and what it really took. */
export interface PreviousCall {
  readonly promptBytes: number;
  /** The bytes of its answer within the new prompt: paid for as tokens already, not to be counted again. */
  readonly answerBytes: number;
  readonly usage: TokenUsage;
}

export interface CountOptions {
  readonly previous?: PreviousCall | undefined;
  /** A budget must hold: count what cannot be exceeded, not what is likely. */
  readonly strict?: boolean | undefined;
}

/**
 * The input tokens of a call that has not been made, without a tokenizer: those cost 600 ms and stall on repeated
 * characters. What the provider counted for the call before is exact; only what was added is guessed, and a token has at
 * least one byte.
 */
export function countInputTokens(
  promptBytes: number,
  { previous, strict = false }: CountOptions = {},
): number {
  const addedBytes = previous === undefined ? -1 : promptBytes - previous.promptBytes - previous.answerBytes;
  // Shorter than what it should go on from: another conversation.
  if (previous !== undefined && addedBytes >= 0) return totalTokens(previous.usage) + addedBytes;
  return strict ? promptBytes : Math.ceil(promptBytes / 2);
}

export function bytesOf(text: string): number {
  return Buffer.byteLength(text, "utf8");
}
