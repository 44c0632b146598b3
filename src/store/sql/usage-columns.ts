import { type UsageSums, usageSums } from "../../domain/ledger.ts";
import { usageColumns } from "../../journal/values.ts";

/** The keys under which a call is summed. */
export interface UsagePlace {
  readonly session: number;
  readonly day: string;
  readonly phase: string;
  readonly persona: string;
  readonly model: string;
  /** Version of the price table; empty if none prices it. */
  readonly prices: string;
}

/** In the order of `valuesOf`. */
export const sumColumns = usageColumns;
export const savedColumns = ["tokens", "micro_usd", "unpriced"] as const;

const placeKey = ["session", "day", "phase", "persona", "model"];
export const usageKey = [...placeKey, "prices"];
export const savingsKey = [...placeKey, "kind"];

export const valuesOf = (sums: UsageSums): number[] => usageSums.map((name) => sums[name]);
