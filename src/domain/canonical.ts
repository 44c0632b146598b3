import { hash } from "node:crypto";
import { InputInvalid } from "./errors.ts";
import { type Json, type JsonRefusal, jsonLimits } from "./json.ts";
import { unserializableKind } from "./unserializable.ts";

/**
 * One text for equal values: sorted keys, no spaces. Reads a value like JSON.stringify, but refuses values that
 * would lose data.
 */
export const canonicalJson = (value: Json): string => write(value, 0);

export const sha256 = (text: string | Uint8Array): string => hash("sha256", text);

export const fingerprint = (value: Json): string => sha256(canonicalJson(value)).slice(0, 32);

function write(value: unknown, depth: number): string {
  if (typeof value === "number" && !Number.isFinite(value)) throw refused(String(value));
  if (
    value === null ||
    typeof value === "string" ||
    typeof value === "number" ||
    typeof value === "boolean"
  ) {
    return JSON.stringify(value);
  }
  if (typeof value !== "object") throw refused(typeof value);
  if (depth >= jsonLimits.maxDepth) throw refused(`nesting deeper than ${jsonLimits.maxDepth} levels`);
  if ("toJSON" in value && typeof value.toJSON === "function") return write(value.toJSON(), depth + 1);
  if (Array.isArray(value)) return writeArray(value, depth);
  const kind = unserializableKind(value);
  if (kind !== undefined) throw refused(kind);
  return writeObject(value as Readonly<Record<string, unknown>>, depth);
}

/** Array.from turns holes into undefined, which map would skip. */
const writeArray = (items: readonly unknown[], depth: number): string =>
  `[${Array.from(items, (item) => (item === undefined ? "null" : write(item, depth + 1))).join(",")}]`;

function writeObject(value: Readonly<Record<string, unknown>>, depth: number): string {
  let text = "";
  // Sorts by code unit. The order of localeCompare would depend on the machine.
  for (const key of Object.keys(value).sort()) {
    const member = value[key];
    if (member === undefined) continue;
    text += `${text === "" ? "" : ","}${JSON.stringify(key)}:${write(member, depth + 1)}`;
  }
  return `{${text}}`;
}

const refused = (found: string): InputInvalid =>
  new InputInvalid(`canonical JSON cannot hold ${found}`, {
    advice: "Use plain, finite data.",
    details: { reason: "not a JSON value" satisfies JsonRefusal, found },
  });
