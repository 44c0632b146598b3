import { isJsonObject, type Json, type JsonObject, parseJson } from "../../domain/json.ts";

const maxTextLength = 256 * 1024;
const maxDepth = 50;

/**
 * A value bent towards its schema where there is no doubt about what was meant: JSON in a text, a number or a boolean
 * in quotes, one thing where a list is expected, members that do not belong there. Whoever calls validates the result.
 */
export function repairJson(schema: Json | undefined, value: Json, depth = 0): Json {
  if (!isJsonObject(schema ?? null) || depth > maxDepth) return value;
  const wanted = schema as JsonObject;
  const types = [wanted["type"] ?? []].flat();
  const bent = bend(types, value);
  if (Array.isArray(bent)) return bent.map((item) => repairJson(wanted["items"], item, depth + 1));
  if (!isJsonObject(bent)) return bent;
  return repairMembers(wanted, bent, depth);
}

function repairMembers(schema: JsonObject, value: JsonObject, depth: number): JsonObject {
  const properties = isJsonObject(schema["properties"] ?? null) ? (schema["properties"] as JsonObject) : {};
  const isClosed = schema["additionalProperties"] === false;
  const repaired: Record<string, Json> = {};
  for (const [key, member] of Object.entries(value)) {
    const name = Object.hasOwn(properties, key)
      ? key
      : (sameWord(key, Object.keys(properties), value) ?? key);
    if (isClosed && !Object.hasOwn(properties, name)) continue;
    repaired[name] = repairJson(properties[name], member, depth + 1);
  }
  return repaired;
}

/** `userCount`, `user_count` and `User Count` are one word. */
function sameWord(key: string, known: readonly string[], value: JsonObject): string | undefined {
  const plain = (text: string): string => text.replace(/[\s_-]/g, "").toLowerCase();
  return known.find((name) => !Object.hasOwn(value, name) && plain(name) === plain(key));
}

function bend(types: readonly Json[], value: Json): Json {
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

/** JSON as models write it: in a fence, with words around it, with a comma too many. */
export function readLooseJson(text: string): Json | undefined {
  if (text.length > maxTextLength) return undefined;
  const fenced = /```(?:json)?\s*([\s\S]*?)```/.exec(text)?.[1] ?? text;
  const from = fenced.search(/[[{]/);
  const to = Math.max(fenced.lastIndexOf("]"), fenced.lastIndexOf("}"));
  if (from === -1 || to <= from) return undefined;
  const body = fenced.slice(from, to + 1);
  for (const candidate of [body, body.replace(/,(\s*[\]}])/g, "$1")]) {
    try {
      return parseJson(candidate);
    } catch {
      // The next one is looser.
    }
  }
  return undefined;
}

function isOfType(type: Json, value: Json): boolean {
  if (type === "object") return isJsonObject(value);
  if (type === "array") return Array.isArray(value);
  if (type === "integer") return Number.isInteger(value);
  return type === "null" ? value === null : typeof value === type;
}
