import { money } from "../../domain/amounts.ts";
import type { StopRequest } from "../../journal/signal.ts";

export { count, money, number } from "../../domain/amounts.ts";

/** Removes control characters: text from personas and users must not control the terminal. */
export function plain(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu, " ");
}

export function ago(at: number, now = Date.now()): string {
  const seconds = Math.max(0, Math.round((now - at) / 1_000));
  if (seconds < 5) return "just now";
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h ago`;
  if (seconds < 172_800) return "yesterday";
  return `${Math.floor(seconds / 86_400)} days ago`;
}

/** Marks a running session that was asked to stop. */
export const stoppingTexts: Readonly<Record<StopRequest, string>> = { pause: "pausing", cancel: "canceling" };

/** "0.4 s", "12 s", "3 min 20 s", "2 h 5 min". */
export function duration(ms: number): string {
  const seconds = Math.max(0, ms) / 1_000;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3_600) return joined(Math.floor(whole / 60), "min", whole % 60, "s");
  if (whole < 86_400) return joined(Math.floor(whole / 3_600), "h", Math.floor((whole % 3_600) / 60), "min");
  return joined(Math.floor(whole / 86_400), "d", Math.floor((whole % 86_400) / 3_600), "h");
}

function joined(many: number, unit: string, few: number, smaller: string): string {
  return few === 0 ? `${many} ${unit}` : `${many} ${unit} ${few} ${smaller}`;
}

/** Rounded up, so that it does not show 0 while the wait continues. */
export function countdown(ms: number): string {
  return ms <= 0 ? "now" : duration(Math.max(1_000, Math.ceil(ms / 1_000) * 1_000)).replace(".0 s", " s");
}

/** "950", "12.3k", "4.5M". */
export function shortNumber(value: number): string {
  if (value < 1_000) return String(Math.round(value));
  if (value < 999_500) return `${scaled(value / 1_000)}k`;
  if (value < 999_500_000) return `${scaled(value / 1_000_000)}M`;
  return `${scaled(value / 1_000_000_000)}G`;
}

const scaled = (value: number): string => (value < 99.95 ? value.toFixed(1) : String(Math.round(value)));

export function bytes(size: number): string {
  if (size < 1_024) return `${size} B`;
  if (size < 1_024 ** 2) return `${(size / 1_024).toFixed(1)} KiB`;
  if (size < 1_024 ** 3) return `${(size / 1_024 ** 2).toFixed(1)} MiB`;
  return `${(size / 1_024 ** 3).toFixed(1)} GiB`;
}

/** The simulated model's prices are invented, so simulated cost is marked. */
export function cost(usage: {
  readonly costUsd: number | null;
  readonly calls: number;
  readonly simulatedCalls: number;
}): string {
  const { costUsd, calls, simulatedCalls } = usage;
  if (simulatedCalls === 0) return money(costUsd);
  return `${money(costUsd)} ${simulatedCalls === calls ? "simulated" : "partly simulated"}`;
}
