/**
 * How long the tracker asks to be left alone: seconds, a date (measured by the tracker's own clock where it says what
 * time it has), or GitHub's moment at which the limit is lifted.
 */
export function retryAfterMs(headers: Headers, now: number = Date.now()): number | undefined {
  const theirNow = momentOf(headers.get("date")) ?? now;
  const asked = headers.get("retry-after")?.trim();
  if (asked !== undefined && /^\d+(?:\.\d+)?$/.test(asked)) return Number(asked) * 1000;
  const liftedAt = momentOf(asked ?? null) ?? exhaustedUntil(headers);
  return liftedAt === undefined ? undefined : Math.max(0, liftedAt - theirNow);
}

function exhaustedUntil(headers: Headers): number | undefined {
  const reset = headers.get("x-ratelimit-reset") ?? "";
  return headers.get("x-ratelimit-remaining") === "0" && /^\d{9,11}$/.test(reset)
    ? Number(reset) * 1000
    : undefined;
}

function momentOf(date: string | null): number | undefined {
  const moment = date === null ? Number.NaN : Date.parse(date);
  return Number.isNaN(moment) ? undefined : moment;
}
