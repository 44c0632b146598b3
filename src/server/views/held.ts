import type { BreakerRecord } from "../../domain/breaker.ts";
import { isoTime } from "../../domain/iso-time.ts";
import type { CardHold } from "../../journal/session-card.ts";
import type { Held } from "../schemas/situation.ts";

/** Null when the wait is over. */
export function heldView(
  hold: CardHold | undefined,
  breakers: ReadonlyMap<string, BreakerRecord>,
  now: number,
): Held | null {
  if (hold === undefined || hold.until <= now) return null;
  const { until, why } = hold;
  if (why.kind === "retry") return { kind: "retry", notBefore: isoTime(until), because: why.because };
  const { dependency, limit } = why;
  const isRateLimit = limit !== undefined || breakers.get(dependency)?.state.kind === "closed";
  return isRateLimit
    ? { kind: "rate-limit", dependency, notBefore: isoTime(until) }
    : { kind: "breaker", dependency, probeAt: isoTime(until) };
}
