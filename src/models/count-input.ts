import { createHash } from "node:crypto";
import { isJsonObject, type Json } from "../domain/json.ts";
import type { TokenUsage } from "../domain/usage.ts";

/** A text never has more tokens than bytes, but usually a third as many. */
export interface InputCount {
  readonly typical: number;
  /** What a limit has to have room for. */
  readonly most: number;
}

/** What providers add by themselves: how to call tools, who speaks. */
const hiddenTokens = 1_000;
/** A picture costs what it shows, not what its bytes are; other files may be shown page by page besides. */
const tokensPerFile = { typical: 2_000, most: 16_000 };

interface Weight {
  readonly bytes: number;
  readonly files: number;
}

/**
 * Counts a call's input before it is made, without a tokenizer (they are slow, and stall on some texts): what the call
 * before took, as its provider counted, and the bytes that were added since.
 */
export class InputCounter {
  #last: { messages: number; digest: string; weight: Weight; tokens: number } | undefined;

  /** `call`: as `canonicalCall` makes it. */
  count(call: Json): InputCount {
    const { weight } = weigh(call, Number.POSITIVE_INFINITY);
    const last = this.#last;
    // Only what the provider counted for these very messages says anything about them.
    if (last !== undefined && weigh(call, last.messages).digest === last.digest) {
      const added = weight.bytes - last.weight.bytes;
      const files = weight.files - last.weight.files;
      return {
        typical: last.tokens + Math.ceil(added / 2) + files * tokensPerFile.typical,
        most: last.tokens + added + files * tokensPerFile.most,
      };
    }
    return {
      typical: Math.ceil(weight.bytes / 2) + weight.files * tokensPerFile.typical,
      most: weight.bytes + hiddenTokens + weight.files * tokensPerFile.most,
    };
  }

  learn(call: Json, usage: TokenUsage | null): void {
    if (usage === null) return;
    const { messages, digest, weight } = weigh(call, Number.POSITIVE_INFINITY);
    // Thoughts may be kept by the provider and sent along again, under a short name.
    this.#last = { messages, digest, weight, tokens: usage.inputTokens + usage.reasoningTokens };
  }
}

/** Of the call's first messages and all that goes with every message. */
function weigh(call: Json, most: number): { messages: number; digest: string; weight: Weight } {
  const { prompt = [], ...beside } = isJsonObject(call) ? call : {};
  const messages = Array.isArray(prompt) ? prompt.slice(0, most) : [];
  let files = 0;
  const text = JSON.stringify([beside, messages], (_, value: unknown) => {
    if (!isFile(value)) return value;
    files += 1;
    return isPicture(value) ? { ...value, data: digestOf(JSON.stringify(value.data)) } : value;
  });
  return {
    messages: messages.length,
    digest: digestOf(text),
    weight: { bytes: Buffer.byteLength(text), files },
  };
}

interface FilePart {
  readonly mediaType: string;
  readonly data: unknown;
}

const isFile = (value: unknown): value is FilePart =>
  isJsonObject(value) && typeof value["mediaType"] === "string" && value["data"] !== undefined;

const isPicture = ({ mediaType }: FilePart): boolean => /^image(?:\/|$)/i.test(mediaType);

const digestOf = (text: string): string => createHash("sha256").update(text).digest("base64");
