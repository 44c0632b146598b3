import type { Json } from "../../domain/json.ts";
import { redact } from "../../domain/redact.ts";
import type { KeepText, ToolDone } from "./tool-call.ts";

/** The most that a model gets from one call. */
export const maxResultLength = 64 * 1024;
const maxDepth = 40;
/** Far more than is shown, and little enough to walk through. */
const maxNodes = 100_000;

/**
 * The result of a tool of the team's own as JSON of bounded size, whatever it returned. Known secrets are masked: a model's
 * provider and the record are no place for them.
 */
export function toolValue(value: unknown): ToolDone {
  if (value === undefined || value === null) return { output: "[no result]" };
  const plain = new Plain().of(value, 0);
  if (typeof plain === "string") return { output: bounded(plain) };
  const text = redact(JSON.stringify(plain));
  if (text.length > maxResultLength) return { output: bounded(text) };
  return { output: text, value: JSON.parse(text) as Json };
}

/** Cut after the secrets are masked, so that no half of one stays. */
export function bounded(text: string, most: number = maxResultLength): string {
  const shown = redact(text.length > most * 4 ? text.slice(0, most * 4) : text);
  if (text.length <= most && shown.length <= most) return shown;
  return `${shown.slice(0, most).toWellFormed()}\n[cut: the result has ${text.length} characters]`;
}

/** The part of a text that a model gets. A longer one is kept whole besides. */
export async function shownPart(text: string, keepText: KeepText | undefined): Promise<ToolDone> {
  const output = bounded(text);
  if (text.length <= maxResultLength || keepText === undefined) return { output };
  return { output, artifact: await keepText(redact(text)) };
}

/** Turns any value into JSON. Stops when it has walked far enough. */
class Plain {
  readonly #above = new Set<object>();
  #nodes = 0;
  #characters = 0;

  of(value: unknown, depth: number): Json {
    this.#nodes += 1;
    if (this.#nodes > maxNodes || this.#characters > maxResultLength * 4) return "[left out]";
    if (typeof value === "string") return this.#text(value);
    if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
    if (typeof value === "boolean" || value === null) return value;
    if (typeof value === "bigint") return String(value);
    if (typeof value !== "object") return `[${typeof value}]`;
    if (depth > maxDepth) return "[nested too deeply]";
    if (this.#above.has(value)) return "[circular]";
    this.#above.add(value);
    try {
      return this.#object(value, depth + 1);
    } catch (error) {
      // A getter or a proxy of the author may throw anything.
      return `[unreadable: ${String((error as Error | undefined)?.message ?? error).slice(0, 200)}]`;
    } finally {
      this.#above.delete(value);
    }
  }

  /** A text of 100 MB is cut here, before it is copied anywhere. */
  #text(value: string): string {
    const most = maxResultLength * 4;
    this.#characters += Math.min(value.length, most);
    return (value.length > most ? value.slice(0, most) : value).toWellFormed();
  }

  #object(value: object, depth: number): Json {
    const bytes = bytesOf(value);
    if (bytes !== undefined) return `[binary data: ${bytes} bytes]`;
    if (value instanceof Error) return { name: this.#text(value.name), message: this.#text(value.message) };
    if (Array.isArray(value)) return this.#list(value as readonly unknown[], depth);
    if (value instanceof Map) return this.#list([...value], depth);
    if (value instanceof Set) return this.#list([...value], depth);
    if ("toJSON" in value && typeof value.toJSON === "function") {
      const own: unknown = value.toJSON();
      if (own !== value) return this.of(own, depth);
    }
    const members: [string, Json][] = [];
    for (const [key, member] of Object.entries(value)) {
      if (member === undefined || typeof member === "function" || typeof member === "symbol") continue;
      members.push([this.#text(key), this.of(member, depth)]);
      if (this.#isFull) break;
    }
    return Object.fromEntries(members);
  }

  #list(items: readonly unknown[], depth: number): Json {
    const list: Json[] = [];
    for (const item of items) {
      list.push(item === undefined ? null : this.of(item, depth));
      if (this.#isFull) break;
    }
    return list;
  }

  get #isFull(): boolean {
    return this.#nodes > maxNodes || this.#characters > maxResultLength * 4;
  }
}

function bytesOf(value: object): number | undefined {
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer || value instanceof SharedArrayBuffer)
    return value.byteLength;
  return value instanceof Blob ? value.size : undefined;
}
