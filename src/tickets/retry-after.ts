import { readRetryAfter, untilMoment } from "../domain/retry-after.ts";

/** How long the tracker asks to be left alone; GitHub may only say when its limit is lifted. */
export function retryAfterMs(headers: Headers, now: number = Date.now()): number | undefined {
  const header = (name: string): string | undefined => headers.get(name) ?? undefined;
  const asked = readRetryAfter(header, now);
  const reset = header("x-ratelimit-reset") ?? "";
  if (asked !== undefined || header("x-ratelimit-remaining") !== "0" || !/^\d{9,11}$/.test(reset))
    return asked;
  return untilMoment(Number(reset) * 1000, header, now);
}
