import { createHash } from "node:crypto";
import type { ModelRequest } from "./loopback-models.ts";

/** Bytes of the prompt that a provider read from its cache for one request, and bytes that it wrote to it. */
export interface Cached {
  readonly read: number;
  readonly written: number;
}

type Body = Readonly<Record<string, unknown>>;

interface Block {
  readonly text: string;
  /** The prompt may be stored up to here. */
  readonly isMarked: boolean;
}

/** Anthropic looks for what it stored in so many blocks before a mark. */
const blocksBack = 20;
/** Other providers compare prompts piece by piece. */
const pieceBytes = 64;

/**
 * The prompt cache of a provider. Anthropic's stores a prompt up to each mark, and finds it again as a whole; the others
 * find the longest beginning by themselves. One changed byte changes everything behind it.
 */
export class PromptCache {
  readonly #prefixes = new Set<string>();

  take({ body }: Pick<ModelRequest, "body">): Cached {
    const blocks = blocksIn(body);
    return blocks.some(({ isMarked }) => isMarked) ? this.#marked(blocks) : this.#pieces(blocks);
  }

  #marked(blocks: readonly Block[]): Cached {
    const ends: { readonly key: string; readonly bytes: number }[] = [];
    for (const { text } of blocks) {
      const { key = "", bytes = 0 } = ends.at(-1) ?? {};
      ends.push({ key: hash(key, text), bytes: bytes + Buffer.byteLength(text) });
    }
    const marks = blocks.flatMap(({ isMarked }, index) => (isMarked ? [index] : []));
    const isNear = (index: number): boolean =>
      marks.some((mark) => mark >= index && mark - index < blocksBack);
    const found = ends.findLast(({ key }, index) => this.#prefixes.has(key) && isNear(index));
    const read = found?.bytes ?? 0;
    for (const mark of marks) this.#prefixes.add(ends[mark]?.key ?? "");
    return { read, written: Math.max(0, (ends[marks.at(-1) ?? 0]?.bytes ?? 0) - read) };
  }

  #pieces(blocks: readonly Block[]): Cached {
    const prompt = Buffer.from(blocks.map(({ text }) => `${text}\n`).join(""));
    let [key, read] = ["", 0];
    for (let at = 0; at + pieceBytes <= prompt.byteLength; at += pieceBytes) {
      key = hash(key, prompt.subarray(at, at + pieceBytes));
      if (this.#prefixes.has(key)) read = at + pieceBytes;
      this.#prefixes.add(key);
    }
    return { read, written: prompt.byteLength - read };
  }
}

const hash = (before: string, text: string | Buffer): string =>
  createHash("sha1").update(before).update(text).digest("base64");

/** A request of any protocol, in the order in which providers cache it: tools, instructions, messages. */
export const blocksOf = (body: Body): readonly string[] => blocksIn(body).map(({ text }) => text);

function blocksIn(body: Body): readonly Block[] {
  const { tools, system, instructions, systemInstruction, messages, input, contents } = body;
  return [tools, system, instructions, systemInstruction, messages, input, contents].flatMap((part) => {
    if (part === undefined) return [];
    return Array.isArray(part) ? part.flatMap(partsOf) : [blockOf(part)];
  });
}

/** Messages of Anthropic and Google hold several blocks each, and the last one grows while its role stays. */
function partsOf(item: Body): readonly Block[] {
  const { role, content, parts } = item;
  const inside = content ?? parts;
  return Array.isArray(inside) ? inside.map((part: Body) => blockOf({ role, part }, part)) : [blockOf(item)];
}

/** Marks say where to cache, and are no part of the prompt: they move on with the conversation. */
const blockOf = (block: unknown, marked = block): Block => ({
  text: JSON.stringify(block, (key, value: unknown) => (key === "cache_control" ? undefined : value)),
  isMarked: (marked as Body)["cache_control"] !== undefined,
});
