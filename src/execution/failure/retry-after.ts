import { boundRetryAfter, type ReadHeader, readRetryAfter } from "../../domain/retry-after.ts";
import type { Link } from "./error-chain.ts";

/** Headers of AI SDK errors, of fetch's `Response` and of common HTTP clients, in whatever case. */
export function headersOf(link: Link): ReadHeader {
  const response = link.read("response") as { readonly headers?: unknown } | undefined;
  const candidates = [link.read("responseHeaders"), link.read("headers"), tryRead(() => response?.headers)];
  const headers = candidates.find((value) => typeof value === "object" && value !== null);
  if (headers === undefined) return () => undefined;
  return (name) =>
    tryRead(() => asText(headers instanceof Headers ? headers.get(name) : find(headers, name)));
}

/** What the headers say, then what the body says. */
export function readRetryAfterMs(header: ReadHeader, body: string, now: number): number | undefined {
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
