import type { TokenUsage } from "../domain/usage.ts";
import type { CallOptions } from "./sdk-types.ts";

/** Only under a strict budget: a text never has more tokens than bytes, but usually a third as many. */
export type Counting = "typical" | "strict";

/**
 * Counts a call's input before it is made, without a tokenizer (they are slow, and stall on some texts): what the call
 * before took, as its provider counted, and the bytes that were added since.
 */
export class InputCounter {
  readonly #counting: Counting;
  #last = { messages: 0, bytes: 0, tokens: 0 };

  constructor(counting: Counting) {
    this.#counting = counting;
  }

  count(options: CallOptions): number {
    const { messages, bytes: lastBytes, tokens } = this.#last;
    const bytes = bytesOf(options, options.prompt.length);
    // The longer conversation begins with the shorter one; its size says so well enough, and need not be kept.
    const goesOn =
      messages > 0 && messages <= options.prompt.length && bytesOf(options, messages) === lastBytes;
    if (goesOn) return tokens + bytes - lastBytes;
    return this.#counting === "strict" ? bytes : Math.ceil(bytes / 2);
  }

  learn(options: CallOptions, usage: TokenUsage | null): void {
    if (usage === null) return;
    const messages = options.prompt.length;
    this.#last = { messages, bytes: bytesOf(options, messages), tokens: usage.inputTokens };
  }
}

const bytesOf = ({ tools = [], prompt }: CallOptions, messages: number): number =>
  Buffer.byteLength(JSON.stringify([tools, prompt.slice(0, messages)]));
