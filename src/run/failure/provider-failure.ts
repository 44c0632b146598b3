import { boundRetryAfter, isRateLimit, type ReadHeader, readRetryAfter } from "../../domain/retry-policy.ts";
import { overflowWords } from "../../personas/model/provider-error.ts";
import type { Link, Verdict } from "./error-chain.ts";
import { readHttpStatus, readServiceCode } from "./service-codes.ts";
import { verdictOfCode } from "./system-failure.ts";

const badAnswer: Verdict = { category: "CONTRACT", suggestedFix: "Answer in the form that was asked for." };
const noAnswer: Verdict = { category: "API_ERROR", outage: true };
const wrongCall: Verdict = {
  category: "API_ERROR",
  recoverable: false,
  suggestedFix: "Correct the persona's model or its settings.",
};

/** AI SDK errors without a status, by the name in their marker. */
const byName: Readonly<Record<string, Verdict>> = {
  AI_LoadAPIKeyError: { category: "AUTH" },
  AI_NoSuchModelError: wrongCall,
  AI_NoSuchProviderError: wrongCall,
  AI_LoadSettingError: wrongCall,
  AI_InvalidArgumentError: wrongCall,
  AI_InvalidPromptError: wrongCall,
  AI_UnsupportedFunctionalityError: wrongCall,
  AI_UnsupportedModelVersionError: wrongCall,
  AI_EmptyResponseBodyError: noAnswer,
  AI_InvalidResponseDataError: noAnswer,
  AI_NoContentGeneratedError: noAnswer,
  AI_NoOutputGeneratedError: noAnswer,
  AI_InvalidStreamPartError: noAnswer,
  AI_NoObjectGeneratedError: badAnswer,
  AI_TypeValidationError: badAnswer,
  AI_JSONParseError: badAnswer,
  AI_InvalidToolInputError: badAnswer,
  AI_NoSuchToolError: badAnswer,
  AI_ToolCallRepairError: badAnswer,
};

/** Errors of the AI SDK and of other HTTP clients, by shape: no provider is imported here. */
export function readProviderError(link: Link, links: readonly Link[], now: number): Verdict | undefined {
  const own = readServiceCode(link);
  const header = headersOf(link);
  const answered = own?.status ?? readHttpStatus(link);
  const status = isRateLimit(answered, header) ? 429 : answered;
  const called = link.name === "AI_APICallError" || link.name === "AI_StreamProviderError";
  if (status === undefined && !called) {
    if (brokeInsideSdk(link)) return { ...noAnswer, code: "invalid_response" };
    return Object.hasOwn(byName, link.name)
      ? ({ ...byName[link.name], code: link.name } as Verdict)
      : undefined;
  }
  const body = bodyOf(link);
  const said = readProviderWords(`${link.message}\n${body}`, status);
  if (said !== undefined)
    return { ...said, message: withBody(link.message, body), details: body || undefined };
  const beneath = links.map(({ code }) => verdictOfCode(code)).find((found) => found?.outage === true);
  const unanswered = status === undefined ? beneath : undefined;
  const verdict = unanswered ?? readStatus(status, link.read("isRetryable"));
  return {
    ...verdict,
    message: withBody(link.message, body),
    code: own?.code ?? (status === undefined || status < 400 ? beneath?.code : undefined) ?? verdict.code,
    details: body || undefined,
    retryAfterMs: mayBeTold(status) ? readRetryAfterMs(header, `${link.message}\n${body}`, now) : undefined,
  };
}

const mayBeTold = (status: number | undefined): boolean => status === 429 || status === 503 || status === 529;

function readStatus(status: number | undefined, isRetryable: unknown): Verdict {
  // No status: no answer came. Below 400: it came cut, or was not what the protocol promises.
  if (status === undefined) return { ...noAnswer, outage: isRetryable !== false, code: "no_answer" };
  if (status < 400) return { ...noAnswer, code: "invalid_response" };
  const code = String(status);
  if (status === 429) return { category: "RATE_LIMIT", outage: true, code };
  if (status === 401 || status === 403 || status === 407) return { category: "AUTH", code };
  if (status === 408 || status === 504 || status === 524) return { category: "TIMEOUT", outage: true, code };
  if (status === 409 || status === 425 || status >= 500) return { ...noAnswer, code };
  if (isRetryable === true) return { category: "API_ERROR", outage: true, code };
  const refused: Verdict = { category: "API_ERROR", recoverable: status !== 404 && status !== 410 };
  return { ...refused, code, suggestedFix: "Correct the request: the service refused it." };
}

function bodyOf(link: Link): string {
  const body = link.read("responseBody");
  if (typeof body === "string") return body.slice(0, 16_000);
  try {
    return (JSON.stringify(link.read("data") ?? link.read("error") ?? "") ?? "")
      .slice(0, 16_000)
      .replace(/^""$/, "");
  } catch {
    return "";
  }
}

/** For a body of unknown shape the SDK reports only "Bad Request"; the body has the reason. */
function withBody(message: string, body: string): string | undefined {
  const told = /"(?:message|error)"\s{0,4}:\s{0,4}("(?:[^"\\]|\\.){1,1000}")/.exec(body)?.[1];
  if (told === undefined) return undefined;
  const words = parseText(told);
  return message.includes(words) ? undefined : `${message}: ${words}`;
}

function parseText(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    return quoted;
  }
}

/** The OpenAI provider reads an answer of the wrong shape without checking it: a bare TypeError. */
function brokeInsideSdk(link: Link): boolean {
  const stack = link.read("stack");
  if (link.name !== "TypeError" || typeof stack !== "string") return false;
  const frame = stack
    .slice(0, 4000)
    .split("\n")
    .find((line) => line.trimStart().startsWith("at "));
  return frame !== undefined && /[\\/]node_modules[\\/]@ai-sdk[\\/]/.test(frame);
}

/**
 * Providers report these under statuses that mean something else: an overflow is a 400, an empty account is a 429 at
 * OpenAI, a 400 at Anthropic and a 402 elsewhere. Only the message or the code tells them apart.
 */
const noCredit =
  /insufficient_quota|exceeded your current quota|billing_hard_limit|credit balance is too low|insufficient (?:balance|credits?|funds)|requires more credits|payment required|billing_not_active/i;

const badKey =
  /api[_ ]key[_ ](?:not valid|invalid)|API_KEY_INVALID|(?:invalid|incorrect) (?:x-)?api[-_ ]key|invalid_api_key/i;

const noSuchModel =
  /model_not_found|model[^.]{0,80}(?:does not exist|not found)|not_found_error[^}]{0,40}model|is not found for API version/i;

/** Longer texts are bodies of bulk data; the reason stands at their beginning. */
const maxWords = 8000;

export function readProviderWords(text: string, status: number | undefined): Verdict | undefined {
  const words = text.slice(0, maxWords);
  const throttled = status === 429;
  if (!throttled && (status === undefined || status < 500) && overflowWords.test(words)) {
    return {
      category: "RESOURCE",
      code: "context_length_exceeded",
      recoverable: true,
      suggestedFix: "Shorten the context, or use a model with a larger window.",
    };
  }
  // Google's per-minute limit reads like an empty account; only Google sends RESOURCE_EXHAUSTED.
  const perMinute = throttled && /RESOURCE_EXHAUSTED/.test(words);
  if (status === 402 || (!perMinute && noCredit.test(words))) {
    // AUTH, not RATE_LIMIT: waiting does not fill an account, a person must.
    return {
      category: "AUTH",
      code: "insufficient_quota",
      suggestedFix: "Add credit to the provider's account or use another key, then resume.",
    };
  }
  if (badKey.test(words)) return { category: "AUTH", code: "invalid_api_key" };
  if (status === 404 && noSuchModel.test(words)) {
    return {
      category: "API_ERROR",
      code: "model_not_found",
      recoverable: false,
      suggestedFix: "Correct the model's name, or ask the provider for access to it.",
    };
  }
  return undefined;
}

/** Headers of AI SDK errors, of fetch's `Response` and of common HTTP clients, in any case. */
function headersOf(link: Link): ReadHeader {
  const response = link.read("response") as { readonly headers?: unknown } | undefined;
  const candidates = [link.read("responseHeaders"), link.read("headers"), tryRead(() => response?.headers)];
  const headers = candidates.find((value) => typeof value === "object" && value !== null);
  if (headers === undefined) return () => undefined;
  return (name) =>
    tryRead(() => asText(headers instanceof Headers ? headers.get(name) : find(headers, name)));
}

/** From the headers, otherwise from the body. */
function readRetryAfterMs(header: ReadHeader, body: string, now: number): number | undefined {
  return readRetryAfter(header, now) ?? fromBody(body);
}

/** Google puts it into `RetryInfo`, OpenAI into the sentence. */
function fromBody(body: string): number | undefined {
  const delay = /"retryDelay"\s{0,4}:\s{0,4}"(\d{1,9}(?:\.\d{1,9})?)s"/.exec(body)?.[1];
  if (delay !== undefined) return boundRetryAfter(Number(delay) * 1000);
  const said = /\btry again in (?:(\d{1,4})m)?(\d{1,6}(?:\.\d{1,9})?)(ms|s)\b/i.exec(body);
  if (said === null) return undefined;
  const unitMs = said[3]?.toLowerCase() === "ms" ? 1 : 1000;
  return boundRetryAfter(Number(said[1] ?? 0) * 60_000 + Number(said[2]) * unitMs);
}

const find = (headers: object, name: string): unknown =>
  Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];

const asText = (value: unknown): string | undefined => {
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return typeof first === "string" || typeof first === "number" ? String(first) : undefined;
};

function tryRead<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
