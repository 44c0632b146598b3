import type { SessionView } from "../api/types.ts";
import { parseTime } from "../format/parse-time.ts";
import type { TimeWindow } from "./time-scale.ts";

/** Now, or when it stopped: no bar and no label goes beyond. */
export function knownEnd({ status, since }: Pick<SessionView, "status" | "since">, now: number): number {
  return status === "running" ? now : Date.parse(since);
}

/** From the first phase to now, or to where it stopped. */
export function wholeWindow(
  view: Pick<SessionView, "status" | "createdAt" | "since" | "phases">,
  now: number,
): TimeWindow {
  const starts = view.phases.flatMap(({ startedAt }) => parseTime(startedAt));
  const from = starts.length === 0 ? Date.parse(view.createdAt) : Math.min(...starts);
  // Never so short that a moment fills the width; what lies behind the end stays empty.
  const end = Math.max(knownEnd(view, now), from + 10_000);
  // A little air, so that the first bar does not touch the edge.
  return { from: from - (end - from) * 0.008, to: end };
}
