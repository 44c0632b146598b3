import { InputInvalid } from "./errors.ts";
import { JsonReader } from "./json-reader.ts";
import { isJsonObject, type Json } from "./json-value.ts";
import { findJsonProblem, findUnserializable } from "./unserializable.ts";

export { isJsonObject, type Json, type JsonObject } from "./json-value.ts";

export const jsonLimits = { maxBytes: 32 * 1024 * 1024, maxDepth: 200 } as const;

export interface JsonOptions {
  readonly maxBytes?: number | undefined;
  readonly maxDepth?: number | undefined;
  /** The name of the value in messages: "the brief", "result". */
  readonly what?: string | undefined;
}

export interface WriteJsonOptions extends JsonOptions {
  /**
   * Writes the value as the only member, with this name, of an object. Joining texts would copy the value once
   * more.
   */
  readonly member?: string | undefined;
}

export interface ParseJsonOptions extends JsonOptions {
  readonly refuseProto?: boolean | undefined;
}

/** Why a text or value was refused, in `details.reason`. */
export type JsonRefusal =
  | "too large"
  | "too deep"
  | "not UTF-8"
  | "not JSON"
  | "key __proto__"
  | "not a JSON value"
  /** A getter or toJSON threw. */
  | "unwritable";

/** Size first, depth second, JSON.parse last, so that nothing recurses into text of unknown depth. */
export function parseJson(text: string | Uint8Array, options: ParseJsonOptions = {}): Json {
  const { what = "the JSON text", maxBytes = jsonLimits.maxBytes, maxDepth = jsonLimits.maxDepth } = options;
  if (typeof text === "string" ? isLargerThan(text, maxBytes) : text.byteLength > maxBytes) {
    throw tooLarge(what, maxBytes);
  }
  const decoded = typeof text === "string" ? text : decode(text, what);
  if (isDeeperThan(decoded, maxDepth)) throw tooDeep(what, maxDepth);
  const value = parse(decoded, what);
  if (options.refuseProto && /__proto__|\\u/.test(decoded) && hasProtoKey(value)) {
    throw refusal("key __proto__", `${what} has a key "__proto__"`, "Give the key another name.");
  }
  return value;
}

/**
 * JSON.stringify, but with errors that name the place and without silent loss: a Map would become {}. `undefined`
 * becomes "null", or an object without the member.
 */
export function toJsonText(value: unknown, options: WriteJsonOptions = {}): string {
  const { what = "value", maxBytes = jsonLimits.maxBytes, maxDepth = jsonLimits.maxDepth, member } = options;
  if (typeof value === "function" || typeof value === "symbol")
    throw notJson({ path: what, problem: `is a ${typeof value}` });
  const text = stringify(value, what, maxBytes, maxDepth, member);
  const around = member === undefined ? { bytes: 0, levels: 0 } : { bytes: member.length + 5, levels: 1 };
  if (isLargerThan(text, maxBytes + around.bytes)) throw tooLarge(what, maxBytes);
  if (isDeeperThan(text, maxDepth + around.levels)) {
    throw tooDeep(what, maxDepth, findJsonProblem(value, what, maxDepth)?.path);
  }
  const lost = typeof value === "object" ? findUnserializable(value, member ?? "") : undefined;
  if (lost !== undefined) throw notJson({ path: what + lost.path, problem: `is ${lost.kind}` });
  return text;
}

function parse(text: string, what: string): Json {
  try {
    if (!hasEscapedKey(text)) return JSON.parse(text) as Json;
  } catch {
    // The reader finds the place.
  }
  const reader = new JsonReader(text);
  const value = reader.read();
  if (value !== undefined) return value;
  const { line, column, found } = reader.place();
  const message = `${what} is not valid JSON: line ${line}, column ${column}: unexpected ${found}`;
  throw refusal("not JSON", message, "Correct the JSON at that place.", { line, column });
}

function stringify(
  value: unknown,
  what: string,
  maxBytes: number,
  maxDepth: number,
  member: string | undefined,
): string {
  try {
    // The types of JSON.stringify omit that it returns undefined for undefined.
    const text: string | undefined = JSON.stringify(member === undefined ? value : { [member]: value });
    return text ?? "null";
  } catch (cause) {
    const found = findJsonProblem(value, what, maxDepth);
    if (found?.problem === "lies too deep") throw tooDeep(what, maxDepth, found.path);
    if (!found && cause instanceof RangeError) throw tooLarge(what, maxBytes);
    if (found !== undefined) throw notJson(found, cause);
    const why = cause instanceof Error ? cause.message : String(cause);
    const message = `${what} cannot be written as JSON: ${why}`;
    throw refusal("unwritable", message, "Return plain data.", undefined, cause);
  }
}

function decode(bytes: Uint8Array, what: string): string {
  try {
    // ignoreBOM keeps a byte order mark in the text, so that every byte of a sealed document is checked.
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw refusal("not UTF-8", `${what} is not valid UTF-8`, "Save it as UTF-8.");
  }
}

/** A UTF-16 unit takes at most three bytes, so most texts are decided without counting. */
const isLargerThan = (text: string, maxBytes: number): boolean =>
  text.length > maxBytes || (text.length * 3 > maxBytes && Buffer.byteLength(text) > maxBytes);

const hasProtoKey = (value: Json): boolean =>
  (isJsonObject(value) && Object.hasOwn(value, "__proto__")) ||
  (typeof value === "object" && value !== null && Object.values<Json>(value).some(hasProtoKey));

const tooLarge = (what: string, maxBytes: number): InputInvalid =>
  refusal(
    "too large",
    `${what} is larger than the limit of ${maxBytes} bytes`,
    "Put large content into a file.",
    {
      maxBytes,
    },
  );

const adviceFor: Readonly<Record<string, string>> = {
  "is a Map": "Return a plain object or a list, for instance [...map].",
  "is a Set": "Return a list, for instance [...set].",
  "is a Promise": "Wait for it with await.",
  "is an Error": "Return its message, or throw it.",
};

const notJson = (
  { path, problem }: { readonly path: string; readonly problem: string },
  cause?: unknown,
): InputInvalid =>
  refusal(
    "not a JSON value",
    `${path} ${problem}, which JSON cannot hold`,
    adviceFor[problem] ?? "Return plain data.",
    { path },
    cause,
  );

const tooDeep = (what: string, maxDepth: number, path?: string): InputInvalid =>
  refusal(
    "too deep",
    `${path === undefined ? what : beginningOf(path)} is nested deeper than the limit of ${maxDepth} levels`,
    "Make it flatter.",
    { maxDepth, ...(path !== undefined && { path: path.slice(0, 2000) }) },
  );

/** The first few of two hundred brackets are enough. */
const beginningOf = (path: string): string => (path.length > 120 ? `${path.slice(0, 100)}…` : path);

function refusal(
  reason: JsonRefusal,
  message: string,
  advice: string,
  details?: object,
  cause?: unknown,
): InputInvalid {
  return new InputInvalid(message, { advice, details: { reason, ...details }, cause });
}

const quote = 0x22;
const backslash = 0x5c;

/** One linear pass without recursion, so that the depth of hostile text is known before anything recurses into it. */
export function isDeeperThan(text: string, maxDepth: number): boolean {
  // Most texts have few brackets, and searching for them is many times faster than checking each character.
  if (countUpTo(text, "[", maxDepth) + countUpTo(text, "{", maxDepth) <= maxDepth) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at + 1) - 1;
    else if (code === 0x5b || code === 0x7b) {
      depth += 1;
      if (depth > maxDepth) return true;
    } else if (code === 0x5d || code === 0x7d) depth -= 1;
  }
  return false;
}

function countUpTo(text: string, character: string, max: number): number {
  let count = 0;
  for (let at = text.indexOf(character); at !== -1 && count <= max; at = text.indexOf(character, at + 1))
    count += 1;
  return count;
}

/**
 * Whether a key of the text contains an escape. JSON.parse of V8 12.8 and later can confuse such a key with an
 * earlier one (`{"a":1,"\n":2}` after `{"a":1,"\\":2}`; nodejs/node#63785).
 */
function hasEscapedKey(text: string): boolean {
  // In JSON a backslash occurs only within a string, so the search starts there.
  for (let at = text.indexOf("\\"); at !== -1; at = text.indexOf("\\", at)) {
    at = endOfString(text, at);
    if (isColon(text, at)) return true;
  }
  return false;
}

/** The offset after the closing quote of the string that contains `start`. */
function endOfString(text: string, start: number): number {
  let at = start;
  for (let code = text.charCodeAt(at); at < text.length && code !== quote; code = text.charCodeAt(at)) {
    at += code === backslash ? 2 : 1;
  }
  return at + 1;
}

function isColon(text: string, start: number): boolean {
  let at = start;
  while (" \t\n\r".includes(text[at] ?? ":")) at += 1;
  return text[at] === ":";
}
