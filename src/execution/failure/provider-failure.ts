import { isRateLimit } from "../../domain/retry-after.ts";
import type { Link } from "./error-chain.ts";
import { readProviderWords } from "./provider-words.ts";
import { headersOf, readRetryAfterMs } from "./retry-after.ts";
import { readHttpStatus, readServiceCode } from "./service-codes.ts";
import { verdictOfCode } from "./system-failure.ts";
import type { Verdict } from "./verdict.ts";

const badAnswer: Verdict = { category: "CONTRACT", suggestedFix: "Answer in the form that was asked for." };
const noAnswer: Verdict = { category: "API_ERROR", outage: true };
const wrongCall: Verdict = {
  category: "API_ERROR",
  recoverable: false,
  suggestedFix: "Correct the persona's model or its settings.",
};

/** AI SDK errors that carry no status, by the name in their marker. */
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

/** Errors of the AI SDK and of anything else that speaks HTTP, by shape: no provider is imported here. */
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

/** A body of an unknown shape leaves the SDK with "Bad Request"; its own words say more. */
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
