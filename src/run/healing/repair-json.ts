import { jsonrepair } from "jsonrepair";
import { isJsonObject, type Json, type JsonObject, parseJson } from "../../domain/json.ts";

const maxTextLength = 256 * 1024;
const maxRepairedLength = 8 * 1024;
const maxDepth = 50;

/**
 * Fits a value to its schema where the meaning is clear: JSON in a string, a number or a boolean in quotes, one item
 * where a list is expected, members that do not belong there. The caller validates the result.
 */
export function repairJson(schema: Json | undefined, value: Json, depth = 0): Json {
  if (!isJsonObject(schema ?? null) || depth > maxDepth) return value;
  const wanted = schema as JsonObject;
  const types = [wanted["type"] ?? []].flat();
  const fitted = fit(types, value);
  if (Array.isArray(fitted)) return fitted.map((item) => repairJson(wanted["items"], item, depth + 1));
  if (!isJsonObject(fitted)) return fitted;
  return repairMembers(wanted, fitted, depth);
}

function repairMembers(schema: JsonObject, value: JsonObject, depth: number): JsonObject {
  const properties = isJsonObject(schema["properties"] ?? null) ? (schema["properties"] as JsonObject) : {};
  const isClosed = schema["additionalProperties"] === false;
  const repaired: Record<string, Json> = {};
  for (const [key, member] of Object.entries(value)) {
    const name = Object.hasOwn(properties, key)
      ? key
      : (sameName(key, Object.keys(properties), value) ?? key);
    if (isClosed && !Object.hasOwn(properties, name)) continue;
    repaired[name] = repairJson(properties[name], member, depth + 1);
  }
  return repaired;
}

/** `userCount`, `user_count` and `User Count` are the same name. */
function sameName(key: string, known: readonly string[], value: JsonObject): string | undefined {
  const plain = (text: string): string => text.replace(/[\s_-]/g, "").toLowerCase();
  return known.find((name) => !Object.hasOwn(value, name) && plain(name) === plain(key));
}

function fit(types: readonly Json[], value: Json): Json {
  if (types.length === 0 || types.some((type) => isOfType(type, value))) return value;
  if (typeof value === "string") {
    const read = readText(types, value);
    if (read !== undefined) return read;
  }
  if (types.includes("string") && (typeof value === "number" || typeof value === "boolean"))
    return String(value);
  if (types.includes("array") && value !== null && !Array.isArray(value)) return [value];
  if (Array.isArray(value) && value.length === 1 && types.some((type) => isOfType(type, value[0] ?? null)))
    return value[0] ?? null;
  return value;
}

function readText(types: readonly Json[], text: string): Json | undefined {
  const trimmed = text.trim();
  if (types.includes("integer") && /^-?\d{1,15}$/.test(trimmed)) return Number(trimmed);
  if (types.includes("number") && /^-?\d{1,15}(?:\.\d{1,15})?$/.test(trimmed)) return Number(trimmed);
  if (types.includes("boolean") && /^(?:true|false)$/i.test(trimmed)) return trimmed.toLowerCase() === "true";
  if (types.includes("null") && /^null$/i.test(trimmed)) return null;
  if (!types.includes("object") && !types.includes("array")) return undefined;
  const parsed = readLooseJson(trimmed);
  return parsed !== undefined && types.some((type) => isOfType(type, parsed)) ? parsed : undefined;
}

/** JSON as models write it: in a fence, with text around it, with single quotes, comments or a comma too many. */
export function readLooseJson(text: string): Json | undefined {
  if (text.length > maxTextLength) return undefined;
  const fenced = /```(?:json)?\s*([\s\S]*?)```/.exec(text)?.[1] ?? text;
  const from = fenced.search(/[[{]/);
  const to = Math.max(fenced.lastIndexOf("]"), fenced.lastIndexOf("}"));
  if (from === -1 || to <= from) return undefined;
  const body = fenced.slice(from, to + 1);
  try {
    return parseJson(body);
  } catch {
    return repaired(body);
  }
}

/**
 * `jsonrepair` takes time with the square of the length on a hostile text, and closes brackets that a cut answer left
 * open, which would lose the rest of it without notice.
 */
function repaired(body: string): Json | undefined {
  if (body.length > maxRepairedLength || !isBalanced(body)) return undefined;
  try {
    return parseJson(jsonrepair(body));
  } catch {
    return undefined;
  }
}

/** Brackets in strings count too: then the text is not repaired, which is safe. */
const isBalanced = (text: string): boolean => text.match(/[[{]/g)?.length === text.match(/[\]}]/g)?.length;

function isOfType(type: Json, value: Json): boolean {
  if (type === "object") return isJsonObject(value);
  if (type === "array") return Array.isArray(value);
  if (type === "integer") return Number.isInteger(value);
  return type === "null" ? value === null : typeof value === type;
}
