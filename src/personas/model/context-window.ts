import type { LanguageModelUsage, ModelMessage } from "ai";
import { tokenBound } from "./count-input.ts";

/** The part of the window that a call may be expected to take. */
const fullShare = 0.85;
/** The part of the window that the last turns keep, word for word. */
const keptShare = 0.2;
/** A summary that makes less room than this is not worth its price. */
const leastGain = 0.1;

const wholeText =
  "[The messages before this one were removed to make room, and there is no summary of them.]";

const summaryRequest = `This conversation is close to the limit of your context window. The messages above, except the first one and your instructions, will be replaced by what you write now. Call no tool. Write a summary for yourself, in at most 800 words: what is done and in which files; what you need again, word for word (names, signatures, numbers, errors); which decisions you made and why; what failed; what is left to do.`;

/** A recorded answer, with the tokens that its provider counted. */
interface Answered {
  readonly usage: Pick<LanguageModelUsage, "inputTokens" | "outputTokens">;
}

export interface WindowPorts {
  /** Of input and output together. */
  readonly tokens: number;
  /** The output that each call is allowed. */
  readonly output: number;
  /** One recorded call: the model's text in answer to these messages. */
  readonly summarize: (messages: ModelMessage[]) => Promise<string>;
}

/**
 * Keeps a conversation within the window of its model: before it is full, the model summarizes all messages but the first
 * (the brief) and the last turns. Rests on nothing but the messages and the recorded usage, so a replay summarizes at the same place.
 */
export class ContextWindow {
  readonly #ports: WindowPorts;
  /** Messages between the first and this one are in the summary. */
  #from = 1;
  #summary: string | undefined;

  constructor(ports: WindowPorts) {
    this.#ports = ports;
  }

  /** `messages`: the whole conversation, which only grows. `last`: its last answer. Returns what the next call sends. */
  async fit(messages: readonly ModelMessage[], last: Answered | undefined): Promise<ModelMessage[]> {
    const { tokens, output, summarize } = this.#ports;
    // An output limit of half the window or more would call for a summary before every call.
    const room = fullShare * tokens - Math.min(output, tokens / 2);
    if (last !== undefined && this.#expected(messages, last) > room) {
      const from = this.#firstToKeep(messages);
      if (from > this.#from && tokensOf(messages.slice(this.#from, from)) >= leastGain * tokens) {
        const older = this.#shown(messages.slice(0, from));
        const summary = await summarize([...older, { role: "user", content: summaryRequest }]);
        this.#summary = summary.trim() === "" ? wholeText : summary.trim();
        this.#from = from;
      }
    }
    return this.#shown(messages);
  }

  #shown(messages: readonly ModelMessage[]): ModelMessage[] {
    if (this.#summary === undefined) return [...messages];
    const content = `<summary>\n${this.#summary}\n</summary>\n\nThis is your summary of the conversation so far. Continue from here.`;
    return [...messages.slice(0, 1), { role: "user", content }, ...messages.slice(this.#from)];
  }

  /** The input of the next call: what the provider counted for the last one, its answer, and what came after. */
  #expected(messages: readonly ModelMessage[], { usage }: Answered): number {
    const { inputTokens = 0, outputTokens = 0 } = usage;
    const shown = this.#shown(messages);
    const answer = shown.findLastIndex(({ role }) => role === "assistant");
    const before = tokensOf(shown.slice(0, answer + 1));
    // Far too few tokens for the text are no count.
    const counted = inputTokens < before / 10 ? before : inputTokens + outputTokens;
    return counted + tokensOf(shown.slice(answer + 1));
  }

  /** Whole turns: a call is never parted from its result. The last turn stays, however long it is. */
  #firstToKeep(messages: readonly ModelMessage[]): number {
    const most = keptShare * this.#ports.tokens;
    let kept = messages.length;
    let size = 0;
    for (let index = messages.length - 1; index > this.#from; index -= 1) {
      const message = messages[index] as ModelMessage;
      size += tokensOf([message]);
      if (size > most && kept < messages.length) break;
      if (message.role === "assistant") kept = index;
    }
    return kept === messages.length ? this.#from : kept;
  }
}

/** More than they have, without the pictures and other files. */
function tokensOf(messages: readonly ModelMessage[]): number {
  const texts = messages.map(({ role, content }) =>
    typeof content === "string"
      ? { role, content }
      : { role, content: [...content].filter(({ type }) => type !== "file") },
  );
  return tokenBound(JSON.stringify(texts));
}
