import type { Link } from "./error-chain.ts";

/** No service means more than a day; a larger number is a mistake or an attack. */
const maxRetryAfterMs = 24 * 60 * 60 * 1000;

export type ReadHeader = (name: string) => string | undefined;

/** Headers of AI SDK errors, of fetch's `Response` and of common HTTP clients, in whatever case. */
export function headersOf(link: Link): ReadHeader {
  const response = link.read("response") as { readonly headers?: unknown } | undefined;
  const candidates = [link.read("responseHeaders"), link.read("headers"), tryRead(() => response?.headers)];
  const headers = candidates.find((value) => typeof value === "object" && value !== null);
  if (headers === undefined) return () => undefined;
  return (name) =>
    tryRead(() => asText(headers instanceof Headers ? headers.get(name) : find(headers, name)));
}

/** `retry-after-ms`, then `retry-after` as seconds or as a date, then what the body says. */
export function readRetryAfterMs(header: ReadHeader, body: string, now: number): number | undefined {
  const ms = Number.parseFloat(header("retry-after-ms") ?? "");
  if (Number.isFinite(ms)) return bound(ms);
  const after = header("retry-after")?.trim() ?? "";
  if (/^\d{1,15}(?:\.\d+)?$/.test(after)) return bound(Number(after) * 1000);
  const at = after === "" ? Number.NaN : Date.parse(after);
  // Against the server's own clock where it says its time: ours may be wrong.
  if (Number.isFinite(at)) return bound(at - validDate(header("date"), now));
  return fromBody(body);
}

/** Google puts it into `RetryInfo`, OpenAI into the sentence. */
function fromBody(body: string): number | undefined {
  const delay = /"retryDelay"\s{0,4}:\s{0,4}"(\d{1,9}(?:\.\d{1,9})?)s"/.exec(body)?.[1];
  if (delay !== undefined) return bound(Number(delay) * 1000);
  const said = /\btry again in (?:(\d{1,4})m)?(\d{1,6}(?:\.\d{1,9})?)(ms|s)\b/i.exec(body);
  if (said === null) return undefined;
  const unitMs = said[3]?.toLowerCase() === "ms" ? 1 : 1000;
  return bound(Number(said[1] ?? 0) * 60_000 + Number(said[2]) * unitMs);
}

const bound = (ms: number): number => Math.ceil(Math.min(Math.max(ms, 0), maxRetryAfterMs));

const validDate = (text: string | undefined, otherwise: number): number => {
  const at = Date.parse(text ?? "");
  return Number.isFinite(at) ? at : otherwise;
};

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
