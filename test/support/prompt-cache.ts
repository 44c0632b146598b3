import type { ModelRequest } from "./loopback-models.ts";

/** What a provider read from its cache for one request, and what it wrote into it, in bytes of the prompt. */
export interface Cached {
  readonly read: number;
  readonly written: number;
}

type Body = Readonly<Record<string, unknown>>;

/**
 * The prompt cache of a provider: it knows the beginning of every prompt that it has seen, block by block, and writes the
 * rest. A block that differs by one byte is another block, and so is everything behind it.
 */
export class PromptCache {
  readonly #prefixes = new Set<string>();

  take(request: Pick<ModelRequest, "body">): Cached {
    let [prefix, read, written] = ["", 0, 0];
    for (const block of blocksOf(request.body)) {
      prefix += `${block}\n`;
      const bytes = Buffer.byteLength(block);
      if (this.#prefixes.has(prefix)) read += bytes;
      else written += bytes;
      this.#prefixes.add(prefix);
    }
    return { read, written };
  }
}

/** A request of any protocol, in the order in which providers cache it: tools, instructions, messages. */
export function blocksOf(body: Body): readonly string[] {
  const { tools, system, instructions, systemInstruction, messages, input, contents } = body;
  return [tools, system, instructions, systemInstruction, messages, input, contents].flatMap((part) => {
    if (part === undefined) return [];
    return (Array.isArray(part) ? part.flatMap(partsOf) : [part]).map(textOf);
  });
}

/** Messages of Anthropic and Google hold several blocks each, and the last one grows while its role stays. */
function partsOf(item: Body): readonly unknown[] {
  const { role, content, parts } = item;
  const inside = content ?? parts;
  return Array.isArray(inside) ? inside.map((part) => ({ role, part })) : [item];
}

/** Marks say where to cache, and are no part of the prompt: they move on with the conversation. */
const textOf = (block: unknown): string =>
  JSON.stringify(block, (key, value: unknown) => (key === "cache_control" ? undefined : value));
