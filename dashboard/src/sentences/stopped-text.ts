import type { FailureCategory, SessionView, Situation, TicketView } from "../api/types.ts";
import { counted } from "../format/count.ts";
import { clock } from "../format/time.ts";
import { breakerHeadline, budgetHeadline, failedHeadline, helpHeadline } from "./session-sentence.ts";
import { gateClause } from "./situation.ts";

/** The one headline of a stopped session; undefined while it is not one. */
export function stoppedHeadline(situation: Situation, now: number): string | undefined {
  switch (situation.kind) {
    case "help":
      return helpHeadline(situation);
    case "budget":
      return budgetHeadline(situation);
    case "breaker":
      return breakerHeadline(situation, now);
    case "failed":
      return failedHeadline(situation);
    case "review":
      return `${situation.phase} waits for your review${changedClause(situation.filesChanged)}${gateClause(situation.gate)}.`;
    case "queued":
    case "running":
    case "paused":
    case "completed":
    case "canceled":
      return undefined;
  }
}

/** A phase may hand on results and no file. */
const changedClause = (files: number): string => (files === 0 ? "" : `: ${counted(files, "file")} changed`);

/** "2 of 5 phases sealed, verified 02:59": what cannot be lost any more. The time is when the seals were read. */
export function sealedText({ phases }: Pick<SessionView, "phases">, verifiedAt: number | null): string {
  const sealed = phases.filter(({ checkpoint }) => checkpoint !== null).length;
  const verified = verifiedAt === null ? "" : `, verified ${clock(verifiedAt)}`;
  return `${sealed} of ${counted(phases.length, "phase")} sealed${verified}`;
}

export function keptText(keptPersonas: number): string | undefined {
  if (keptPersonas === 0) return undefined;
  return keptPersonas === 1
    ? "1 finished persona keeps its work"
    : `${counted(keptPersonas, "finished persona")} keep their work`;
}

/** "10 tickets, 8 delivered" */
export function ticketsText(tickets: readonly Pick<TicketView, "status">[]): string {
  const delivered = tickets.filter(({ status }) => status === "delivered").length;
  return `${counted(tickets.length, "ticket")}, ${delivered === tickets.length ? "all" : delivered} delivered`;
}

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

/** What trying the same again would be: it is said before it is paid for. */
export function resumeWarning(same: { readonly count: number; readonly of: number } | null): string {
  if (same === null || same.count < 2) return "Same inputs, same place.";
  return `Same inputs, same place. After ${same.count} equal failures, expect another.`;
}

/** The lines around the first one that says what went wrong, the rest left out at both ends. */
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
