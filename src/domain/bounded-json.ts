import type { Json, JsonObject } from "./json-value.ts";

export const cutMark = "… (cut)";

const maxTextBytes = 16 * 1024;
const maxTotalBytes = 1024 * 1024;
const maxValues = 10_000;
const maxDepth = 32;

/** Turns any value into JSON of bounded size and depth, and never throws. For the details of an error. */
export class BoundedJson {
  private readonly writeError: (error: Error) => JsonObject;
  private readonly ancestors = new Set<object>();
  private valuesLeft = maxValues;
  private bytesLeft = maxTotalBytes;

  constructor(writeError: (error: Error) => JsonObject) {
    this.writeError = writeError;
  }

  /** `undefined` means: omit it, like JSON.stringify. */
  value(value: unknown): Json | undefined {
    this.valuesLeft -= 1;
    if (typeof value === "string") return this.text(value);
    if (typeof value === "bigint") return this.text(String(value));
    if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
    if (typeof value === "boolean" || value === null) return value;
    if (typeof value !== "object") return undefined;
    if (this.valuesLeft < 0) return cutMark;
    if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
    return this.nested<Json | undefined>(
      value,
      (mark) => mark,
      () => this.container(value),
    );
  }

  members(given: object): JsonObject {
    const entries = this.entriesOf(given);
    const value = entries === undefined ? given : asObject(entries);
    const members: [string, Json][] = [];
    for (const key of keysOf(value)) {
      if (this.valuesLeft <= 0) {
        members.push([cutMark, cutMark]);
        break;
      }
      const member = this.value(readProperty(value, key));
      if (member !== undefined) members.push([this.text(key), member]);
    }
    // fromEntries defines members, so a key `__proto__` stays an ordinary key.
    return Object.fromEntries(members);
  }

  /** Runs `write` unless the value contains itself or is too deep. Then `refuse` returns a mark in its place. */
  nested<T>(value: object, refuse: (mark: string) => T, write: () => T): T {
    if (this.ancestors.has(value)) return refuse("[cycle]");
    if (this.ancestors.size >= maxDepth) return refuse("[too deep]");
    this.ancestors.add(value);
    const written = write();
    this.ancestors.delete(value);
    return written;
  }

  /** Takes as many items as the bounds still allow. */
  take<T>(values: readonly T[]): readonly T[] {
    return values.length <= this.valuesLeft ? values : values.slice(0, Math.max(0, this.valuesLeft));
  }

  text(text: string): string {
    const kept = cutText(text, Math.min(maxTextBytes, this.bytesLeft));
    this.bytesLeft -= kept.length;
    return kept;
  }

  private container(value: object): Json | undefined {
    if (isError(value)) {
      // Released, because the writer of errors counts for itself.
      this.ancestors.delete(value);
      return this.writeError(value);
    }
    const toJson = readProperty(value, "toJSON");
    if (typeof toJson === "function") return this.value(attempt(() => toJson.call(value) as unknown));
    const list = Array.isArray(value) ? value : this.itemsOf(value);
    if (list === undefined) return this.members(value);
    const kept = this.take(list);
    const items = kept.map((item) => this.value(item) ?? null);
    return kept.length < list.length ? [...items, cutMark] : items;
  }

  /** The entries of a Map, including one of another realm. */
  private entriesOf(value: object): readonly (readonly [unknown, unknown])[] | undefined {
    if (tagOf(value) !== "[object Map]") return undefined;
    return attempt(() => this.first(Map.prototype.entries.call(value)));
  }

  /** A Set as a list, and a Map with keys that are not all texts as a list of pairs. */
  private itemsOf(value: object): readonly unknown[] | undefined {
    const entries = this.entriesOf(value);
    if (entries !== undefined) return hasTextKeys(entries) ? undefined : entries;
    if (tagOf(value) !== "[object Set]") return undefined;
    return attempt(() => this.first(Set.prototype.values.call(value)));
  }

  /** As many items as the bounds allow, plus one that shows that there were more. */
  private first<T>(items: Iterable<T>): T[] {
    const taken: T[] = [];
    for (const item of items) {
      taken.push(item);
      if (taken.length > this.valuesLeft) break;
    }
    return taken;
  }
}

const hasTextKeys = (entries: readonly (readonly [unknown, unknown])[]): boolean =>
  entries.every(([key]) => typeof key === "string");

/** Keys that are not texts could become equal as texts, so such entries stay pairs. */
const asObject = (entries: readonly (readonly [unknown, unknown])[]): object =>
  hasTextKeys(entries) ? Object.fromEntries(entries as readonly (readonly [string, unknown])[]) : { entries };

/** A getter of `Symbol.toStringTag` may throw. */
const tagOf = (value: object): string | undefined => attempt(() => Object.prototype.toString.call(value));

export function cutText(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes) return text;
  const bytes = Buffer.from(text.slice(0, Math.max(0, maxBytes))).subarray(0, Math.max(0, maxBytes - 12));
  // A streaming decoder holds back an incomplete character at the end.
  return new TextDecoder().decode(bytes, { stream: true }) + cutMark;
}

/** Includes errors of another realm, which `instanceof` does not recognize. */
export const isError = (value: unknown): value is Error =>
  attempt(() => value instanceof Error || Object.prototype.toString.call(value) === "[object Error]") ??
  false;

/** A getter or a proxy may throw. Unreadable properties are omitted. */
export const readProperty = (value: object, key: string): unknown =>
  attempt(() => (value as Record<string, unknown>)[key]);

const keysOf = (value: object): readonly string[] => attempt(() => Object.keys(value)) ?? [];

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
