import type { SessionView } from "../api/types.ts";
import { parseTime } from "../format/time.ts";

/** The visible part of time, and its scale. */
export interface TimeWindow {
  readonly from: number;
  readonly to: number;
}

export interface TimeScale extends TimeWindow {
  readonly width: number;
  readonly x: (at: number) => number;
}

export function timeScale({ from, to }: TimeWindow, width: number): TimeScale {
  const span = Math.max(1, to - from);
  return { from, to, width, x: (at) => ((at - from) / span) * width };
}

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const steps = [
  ...[1, 2, 5, 10, 15, 30].map((value) => value * second),
  ...[1, 2, 5, 10, 15, 30].map((value) => value * minute),
  ...[1, 2, 3, 6, 12].map((value) => value * hour),
  ...[1, 2, 7, 14, 30].map((value) => value * day),
];

const leastPixels = 64;
const nowPixels = 58;

/** Round local times, far enough apart to read, and none where the label of the end stands. */
export function axisTicks({ from, to, width, x }: TimeScale, end: number | undefined): number[] {
  const span = Math.max(1, to - from);
  const step = steps.find((value) => (value / span) * width >= leastPixels) ?? span;
  const offset = new Date(from).getTimezoneOffset() * minute;
  const first = Math.ceil((from - offset) / step) * step + offset;
  const ticks: number[] = [];
  for (let at = first; at <= to && ticks.length < 100; at += step)
    if (x(at) > 26 && (end === undefined || Math.abs(x(end) - x(at)) >= nowPixels)) ticks.push(at);
  return ticks;
}

/** The precision of a label. */
export function tickPrecision(ticks: readonly number[]): "seconds" | "minutes" | "days" {
  const [first, second_] = ticks;
  const gap = first === undefined || second_ === undefined ? hour : second_ - first;
  if (gap < minute) return "seconds";
  return gap < day ? "minutes" : "days";
}

const shortestMs = 2000;

/** Zooms around a point of the width (0 to 1), never beyond the whole. */
export function zoomed(
  window: TimeWindow,
  whole: TimeWindow,
  factor: number,
  at: number,
): TimeWindow | undefined {
  const span = window.to - window.from;
  const next = Math.max(shortestMs, span * factor);
  if (next >= whole.to - whole.from) return undefined;
  const anchor = window.from + span * at;
  return panned({ from: anchor - next * at, to: anchor + next * (1 - at) }, whole, 0);
}

/** Moves by a share of the width and stays inside the whole. */
export function panned({ from, to }: TimeWindow, whole: TimeWindow, share: number): TimeWindow {
  const span = to - from;
  const start = Math.max(whole.from, Math.min(whole.to - span, from + span * share));
  return { from: start, to: start + span };
}

/** Now, or the time of the stop. No bar and no label goes beyond. */
export function knownEnd({ status, since }: Pick<SessionView, "status" | "since">, now: number): number {
  return status === "running" ? now : Date.parse(since);
}

/** From the first phase to now, or to the stop. */
export function wholeWindow(
  view: Pick<SessionView, "status" | "createdAt" | "since" | "phases">,
  now: number,
): TimeWindow {
  const starts = view.phases.flatMap(({ startedAt }) => parseTime(startedAt));
  const from = starts.length === 0 ? Date.parse(view.createdAt) : Math.min(...starts);
  // Never so short that a moment fills the width. The part after the end stays empty.
  const end = Math.max(knownEnd(view, now), from + 10_000);
  // Some padding, so that the first bar does not touch the edge.
  return { from: from - (end - from) * 0.008, to: end };
}
