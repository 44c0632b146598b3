import { isError, readProperty } from "../../domain/bounded-json.ts";
import { RecoverableError } from "../../domain/errors.ts";
import { isJsonObject, type Json } from "../../domain/json.ts";
import { redact } from "../../domain/redact.ts";

const maxLinks = 8;
/** Bodies of errors are read for the reason only. */
const maxBodyLength = 16_000;

/**
 * An error of a provider, fit to be recorded and shown: without the request (the whole prompt), without keys in its
 * words, and with a body of bounded length. It stays the same object, so that its class still says what it is.
 */
export function cleanError(thrown: unknown): unknown {
  let link = thrown;
  for (let depth = 0; isError(link) && depth < maxLinks; depth += 1) {
    for (const key of ["message", "responseBody", "stack"]) {
      const text = readProperty(link, key);
      if (typeof text === "string") set(link, key, redact(text.slice(0, maxBodyLength)));
    }
    const data = readProperty(link, "data");
    if (data !== undefined) set(link, "data", cleanData(data));
    if (readProperty(link, "requestBodyValues") !== undefined) set(link, "requestBodyValues", {});
    link = readProperty(link, "cause");
  }
  return thrown;
}

function cleanData(data: unknown): unknown {
  try {
    const text = JSON.stringify(data) ?? "";
    return text.length <= maxBodyLength ? JSON.parse(redact(text)) : redact(text.slice(0, maxBodyLength));
  } catch {
    return undefined;
  }
}

function set(error: object, key: string, value: unknown): void {
  try {
    Object.defineProperty(error, key, {
      value,
      writable: true,
      configurable: true,
      enumerable: key !== "stack" && key !== "message",
    });
  } catch {
    // Frozen or a proxy: then it cannot be mended, and what it says is redacted again wherever it is shown.
  }
}

/** The status of an error that names none. */
const unsaidStatus = 502;
const answerKeys = ["choices", "output", "content", "candidates"];
/** Of events that carry parts of an answer. */
const partKeys = ["message", "response", "delta", "usage", "usageMetadata"];

/** Members of an answer: a body with one of them is no error. */
export const holdsAnswer = (body: unknown): boolean =>
  typeof body === "object" && body !== null && [...answerKeys, ...partKeys].some((key) => key in body);

/**
 * Some gateways report an error as JSON with status 200. A reader of a stream finds nothing in it, so it gets the
 * status that it should have had.
 */
export async function withStatusOfError(response: Response): Promise<Response> {
  const { headers } = response;
  if (!response.ok || !/^application\/json\b/i.test(headers.get("content-type") ?? "")) return response;
  const text = await response.text();
  const error = errorIn(text);
  const status = error === undefined ? response.status : (reportedStatus(error) ?? unsaidStatus);
  return new Response(text, { status, headers });
}

/** The error in a body that has nothing else. */
export function errorIn(text: string): object | undefined {
  // Parsed only when there may be an error: an answer is long, and is parsed again by the package.
  if (!text.includes('"error"')) return undefined;
  const body = parse(text);
  if (!isJsonObject(body) || answerKeys.some((key) => key in body)) return undefined;
  const { error } = body;
  if (typeof error === "string") return { message: error };
  if (isJsonObject(error)) return error;
  return body["object"] === "error" ? body : undefined;
}

function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** How the providers say that a prompt does not fit; the status (400 or 413) is that of any wrong request. */
export const overflowWords =
  /context_length_exceeded|maximum context length|context (?:window|length|size)[^.]{0,40}exceed|exceed[^.]{0,60}context (?:window|length|size|limit)|prompt is too long|input is too long|input token count[^.]{0,40}exceeds|too many (?:input )?tokens|request_too_large|request exceeds the maximum size|reduce the length of (?:the|your) (?:messages|prompt)|string_above_max_length|context the overflows|loaded with context length of only/i;

const overflowCode = "context_length_exceeded";

/** The prompt does not fit the model. A healer can shorten it, or ask a model with a larger window. */
export class ContextOverflow extends RecoverableError {
  /** Also after it was recorded and read back as what it extends. */
  static isOverflow(error: unknown): boolean {
    return RecoverableError.is(error) && error.details["reason"] === overflowCode;
  }
}

/** The error itself, or what it is for a healer. */
export function recognizeOverflow(error: unknown, model: string): unknown {
  if (!saysOverflow(error)) return error;
  return new ContextOverflow(`The prompt does not fit the context window of ${model}.`, {
    details: { reason: overflowCode, model },
    advice: "Shorten the context, or use a model with a larger window.",
    cause: error,
  });
}

function saysOverflow(error: unknown): boolean {
  if (typeof error !== "object" || error === null) return false;
  const status = readProperty(error, "statusCode");
  // A limit per minute is also worded in tokens, but comes as 429; an outage that quotes the prompt comes as 5xx.
  if (typeof status !== "number" || (status !== 400 && status !== 413 && status !== 422)) return false;
  const words = [readProperty(error, "message"), readProperty(error, "responseBody")];
  return words.some((text) => typeof text === "string" && overflowWords.test(text.slice(0, 8000)));
}

/** Members that hold the code or type of an error, in order of precedence. */
const named: readonly (readonly [RegExp, number])[] = [
  [/rate.?limit|too.?many.?requests|throttl|quota|resource.?exhausted/i, 429],
  [/overload/i, 529],
  [/unavailable/i, 503],
  [/time.?out|deadline/i, 504],
  [/not.?found/i, 404],
  [/api.?key|auth/i, 401],
  [/permission|forbidden/i, 403],
  [/billing|payment|credit/i, 402],
  [/context.?length|invalid|bad.?request|content.?(?:filter|policy)|data.?inspection|moderation/i, 400],
  [/server.?error|internal|api_error/i, 500],
];

/** Messages of servers that name no code. */
const said: readonly (readonly [RegExp, number])[] = [
  [/\brate limit (?:is |was )?(?:exceeded|reached)|\btoo many requests\b/i, 429],
  [overflowWords, 400],
  [/\bmodel\b[^.]{0,80}\b(?:not found|does not exist)\b/i, 404],
];

const longestWord = 100;
const longestSentence = 8000;

/**
 * The HTTP status that an error in a body means. Compatible servers write it as its code, some as text, and many name it
 * only in its message, as the providers' own interfaces do.
 */
export function reportedStatus(error: object): number | undefined {
  const read = (key: string): unknown => readProperty(error, key);
  for (const key of ["statusCode", "status", "code"]) {
    const value = read(key);
    const status = typeof value === "string" && /^\d{3}$/.test(value) ? Number(value) : value;
    if (typeof status === "number" && Number.isInteger(status) && status >= 400 && status <= 599)
      return status;
  }
  for (const key of ["code", "type", "status"]) {
    const status = meaning(named, read(key), longestWord);
    if (status !== undefined) return status;
  }
  return meaning(said, read("message"), longestSentence);
}

function meaning(
  table: readonly (readonly [RegExp, number])[],
  words: unknown,
  longest: number,
): number | undefined {
  if (typeof words !== "string") return undefined;
  return table.find(([pattern]) => pattern.test(words.slice(0, longest)))?.[1];
}
