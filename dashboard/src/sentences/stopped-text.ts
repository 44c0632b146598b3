import type { FailureCategory, SessionView, StoppedPersona, TicketView } from "../api/types.ts";
import { counted } from "../format/count.ts";

/** "10 tickets, 8 delivered" */
export function ticketsText(tickets: readonly Pick<TicketView, "status">[]): string {
  const delivered = tickets.filter(({ status }) => status === "delivered").length;
  return `${counted(tickets.length, "ticket")}, ${delivered === tickets.length ? "all" : delivered} delivered`;
}

/** The explanation of one persona, if several need help. */
export const needOf = (
  { needs }: SessionView["explanation"],
  of: Pick<StoppedPersona, "phase" | "persona"> | undefined,
) => needs.find(({ phase, persona }) => phase === of?.phase && persona === of.persona);

const categories: Readonly<Record<FailureCategory, string>> = {
  SYNTAX: "syntax error",
  TYPE: "type error",
  IMPORT: "missing import",
  TEST_FAILURE: "test failed",
  CONTRACT: "contract check failed",
  ARCHITECTURE: "import rule broken",
  TIMEOUT: "timeout",
  API_ERROR: "service failed",
  RATE_LIMIT: "rate limit",
  AUTH: "key or permission missing",
  RESOURCE: "resource exhausted",
  BUDGET: "budget reached",
  GOVERNANCE: "policy violated",
  UNKNOWN: "not recognized",
};

export const categoryText = (category: FailureCategory): string => categories[category];

/** "Same failure in 6 of 6 attempts" */
export function sameFailureText(
  same: { readonly count: number; readonly of: number } | null,
): string | undefined {
  if (same === null || same.count < 2) return undefined;
  return `Same failure in ${same.count} of ${same.of} attempts`;
}

/** Warns before the same attempt is paid for again. */
export function resumeWarning(same: { readonly count: number; readonly of: number } | null): string {
  if (same === null || same.count < 2) return "Same inputs, same place.";
  return `Same inputs, same place. After ${same.count} equal failures, expect another.`;
}

/** At most `most` lines around the first marked one. */
export function aroundMarked<Line extends { readonly marked: boolean }>(
  lines: readonly Line[],
  most: number,
): readonly Line[] {
  if (lines.length <= most) return lines;
  const first = Math.max(
    0,
    lines.findIndex(({ marked }) => marked),
  );
  const from = Math.max(0, Math.min(lines.length - most, first - Math.floor((most - 1) / 2)));
  return lines.slice(from, from + most);
}
