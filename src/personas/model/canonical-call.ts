import { InputInvalid } from "../../domain/errors.ts";
import { type Json, jsonLimits } from "../../domain/json.ts";
import type { CallOptions } from "./sdk-types.ts";

/** Options that do not change the answer. */
const leftOut: ReadonlySet<string> = new Set(["abortSignal", "headers", "includeRawChunks"]);

/** Bytes that are kept elsewhere, with what a call has in their place. */
export type StoredBytes = ReadonlyMap<unknown, { readonly sha256: string; readonly bytes: number }>;

/** The call as plain JSON: equal calls give equal JSON in every process. */
export function canonicalCall(model: string, options: CallOptions, stored: StoredBytes = new Map()): Json {
  const kept = Object.entries(options).filter(([key]) => !leftOut.has(key));
  return plain({ model, ...Object.fromEntries(kept) }, 0, stored);
}

/** Plain values stay the same object: thousands of calls wait at once, and most of a call is plain. */
function plain(value: unknown, depth: number, stored: StoredBytes): Json {
  if (depth > jsonLimits.maxDepth) {
    throw new InputInvalid(`a model call is nested deeper than ${jsonLimits.maxDepth} levels`);
  }
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  // Bytes have no JSON form of their own: an array of numbers would be four times as long.
  if (ArrayBuffer.isView(value)) {
    const { sha256, bytes = 0 } = stored.get(value) ?? {};
    if (sha256 !== undefined) return { sha256, bytes };
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64");
  }
  if (Array.isArray(value)) {
    const items = value.map((item) => plain(item, depth + 1, stored));
    return items.every((item, index) => item === value[index]) ? (value as Json) : items;
  }
  if (typeof value !== "object") return null;
  if ("toJSON" in value && typeof value.toJSON === "function")
    return plain(value.toJSON(), depth + 1, stored);
  const entries = Object.entries(value);
  const members = entries
    .filter(([, member]) => member !== undefined)
    .map(([key, member]) => [key, plain(member, depth + 1, stored)] as const);
  const isPlain =
    members.length === entries.length && members.every(([key, member]) => member === Reflect.get(value, key));
  return isPlain ? (value as Json) : Object.fromEntries(members);
}
