import type { BreakerView, BreakerWaiter } from "../api/types.ts";
import { counted, listed } from "../format/count.ts";
import { clockSeconds, countdown } from "../format/time.ts";
import { type Phrase, strong } from "./phrase.ts";

/** One clause per breaker for the notice above the list: "Breaker openai: next probe in 0:41, parking-1 waits." */
export function breakerNotice(breaker: BreakerView, now: number): Phrase {
  const head: Phrase = ["Breaker ", strong(breaker.name)];
  const who = whoWaits(breaker.waiting);
  const rest = who === "" ? "." : `, ${who}.`;
  if (breaker.state === "half-open") return [...head, ": a probe is under way", rest];
  if (breaker.probeAt === null) return [...head, ": open", rest];
  return [...head, ": next probe in ", strong(countdown(Date.parse(breaker.probeAt) - now)), rest];
}

/** "parking-1 waits", "threat-model-q4 is parked", "4 sessions wait, 1 is parked" */
export function whoWaits(waiting: readonly BreakerWaiter[]): string {
  const names = (parked: boolean) => [
    ...new Set(waiting.filter((waiter) => waiter.parked === parked).map(({ key, id }) => key ?? id)),
  ];
  const clause = (list: readonly string[], one: string, many: string): string[] => {
    if (list.length === 0) return [];
    if (list.length > 2) return [`${counted(list.length, "session")} ${many}`];
    return [`${listed(list)} ${list.length === 1 ? one : many}`];
  };
  return [...clause(names(false), "waits", "wait"), ...clause(names(true), "is parked", "are parked")].join(
    ", ",
  );
}

/** "5 of 5 outages since 14:25:31" */
export function breakerCause({ failures, threshold, openedAt, state }: BreakerView): string {
  if (state === "closed") return failures === 0 ? "" : `${failures} of ${threshold} outages`;
  const since = openedAt === null ? "" : ` since ${clockSeconds(Date.parse(openedAt))}`;
  return `${failures} of ${threshold} outages${since}`;
}
