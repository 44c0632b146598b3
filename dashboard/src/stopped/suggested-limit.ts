import type { Range } from "../api/types.ts";

interface Met {
  readonly unit: "usd" | "tokens";
  readonly used: number;
  readonly asked: number;
}

/** Covers the next call and, with a forecast, the rest; rounded up to a number that is easy to type. */
export function suggestedLimit({ unit, used, asked }: Met, forecast: Range | null): number {
  const needed = used + Math.max(asked, forecast?.highUsd ?? asked * 2);
  if (unit === "tokens") return Math.ceil(needed / 10_000) * 10_000;
  return needed < 5 ? Math.ceil(needed * 2) / 2 : Math.ceil(needed);
}

/** Whose limit was met: "persona writer", "phase design", or the session's own. */
export function placeOf(level: string): { readonly persona?: string; readonly phase?: string } {
  const [, of, name] = /^(persona|phase) (.*)$/s.exec(level) ?? [];
  if (of === undefined || name === undefined) return {};
  return of === "persona" ? { persona: name } : { phase: name };
}
