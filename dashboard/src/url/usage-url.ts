import type { UsageBy } from "../api/types.ts";
import { oneOf, type Since, sincePeriods } from "./sessions-url.ts";

export const usageBys = ["persona", "phase", "model", "session", "day"] as const satisfies readonly UsageBy[];
export const usagePeriods = sincePeriods;
const units = ["usd", "tokens"] as const;

export interface UsageQueryState {
  readonly by: UsageBy;
  readonly unit: "usd" | "tokens";
  readonly since: Since;
  readonly session: string | undefined;
}

export function parseUsageQuery(search: string): UsageQueryState {
  const query = new URLSearchParams(search);
  return {
    by: oneOf(usageBys, query.get("by"), "persona"),
    unit: oneOf(units, query.get("unit"), "usd"),
    since: oneOf(sincePeriods, query.get("since"), "7d"),
    session: query.get("session")?.slice(0, 200) || undefined,
  };
}

export function formatUsageQuery({ by, unit, since, session }: UsageQueryState): string {
  const query = new URLSearchParams();
  if (by !== "persona") query.set("by", by);
  if (unit !== "usd") query.set("unit", unit);
  if (since !== "7d") query.set("since", since);
  if (session !== undefined) query.set("session", session);
  const text = query.toString();
  return text === "" ? "" : `?${text}`;
}
