/** No service means more than a day; a larger number is a mistake or an attack. */
const maxRetryAfterMs = 24 * 60 * 60 * 1000;

export type ReadHeader = (name: string) => string | undefined;

/** A rate limit; GitHub and others say it with the status of what is forbidden. */
export function isRateLimit(status: number | undefined, header: ReadHeader): boolean {
  if (status !== 403) return status === 429;
  return header("x-ratelimit-remaining") === "0" || header("retry-after") !== undefined;
}

/** `retry-after-ms`, then `retry-after` as seconds or as a date, then when a limit that is used up is lifted. */
export function readRetryAfter(header: ReadHeader, now: number): number | undefined {
  const ms = Number.parseFloat(header("retry-after-ms") ?? "");
  if (Number.isFinite(ms)) return boundRetryAfter(ms);
  const after = header("retry-after")?.trim() ?? "";
  if (/^\d{1,15}(?:\.\d+)?$/.test(after)) return boundRetryAfter(Number(after) * 1000);
  const at = after === "" ? Number.NaN : Date.parse(after);
  if (Number.isFinite(at)) return untilMoment(at, header, now);
  const reset = header("x-ratelimit-reset") ?? "";
  const isUsedUp = header("x-ratelimit-remaining") === "0" && /^\d{9,11}$/.test(reset);
  return isUsedUp ? untilMoment(Number(reset) * 1000, header, now) : undefined;
}

/** Measured by the server's own clock where it says what time it has: ours may be wrong. */
function untilMoment(at: number, header: ReadHeader, now: number): number {
  const theirs = Date.parse(header("date") ?? "");
  return boundRetryAfter(at - (Number.isFinite(theirs) ? theirs : now));
}

export const boundRetryAfter = (ms: number): number => Math.ceil(Math.min(Math.max(ms, 0), maxRetryAfterMs));
