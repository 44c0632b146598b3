import type { BreakerRecord } from "../domain/breaker.ts";
import type { ErrorJson } from "../domain/error-json.ts";
import type { SessionState } from "../domain/session-state.ts";
import type { Ticket, TicketFailure } from "../domain/ticket.ts";
import { newTicket } from "../tickets/new-ticket.ts";

/** What HelpNeeded says about itself; the details of any other error that parks for help are empty. */
interface HelpDetails {
  readonly phase?: string;
  readonly persona?: string;
  readonly category?: string;
  readonly message?: string;
  readonly attempts?: number;
  readonly failures?: readonly TicketFailure[];
  readonly suggestedActions?: readonly string[];
}

/** The request for help that goes with a parked session. */
export function ticketFor(state: SessionState, error: ErrorJson | undefined, now: number): Ticket {
  const details = (error?.details ?? {}) as HelpDetails;
  const message = details.message ?? error?.message ?? "";
  return newTicket(
    {
      sessionId: state.id,
      team: state.created.team,
      phase: details.phase ?? "-",
      persona: details.persona ?? "maestro",
      category: details.category ?? "UNKNOWN",
      message,
      attempts: details.attempts ?? 0,
      failures: details.failures ?? [],
      details: error?.message ?? "",
      context: { session: state.id, steps: String(state.stepCount), brief: state.created.brief },
      suggestedActions: [
        ...(details.suggestedActions ?? []),
        ...(error?.advice === undefined ? [] : [error.advice]),
      ],
      resumeCommand: `maestro resume ${state.id}`,
    },
    now,
  );
}

/** A dependency that fails every probe is everybody's problem, not one session's. */
export function ticketForDependency(dependency: string, record: BreakerRecord, now: number): Ticket {
  const failedProbes = "failedProbes" in record.state ? record.state.failedProbes : 0;
  return newTicket(
    {
      sessionId: "-",
      team: "-",
      phase: "-",
      persona: dependency,
      category: "API_ERROR",
      message: `${dependency} does not answer: its breaker is open and its probes fail`,
      attempts: failedProbes,
      failures: [],
      context: { dependency },
      suggestedActions: [
        "Check the service, its status page and the network.",
        "Sessions go on by themselves once a probe succeeds.",
      ],
      resumeCommand: `maestro breakers reset ${dependency}`,
    },
    now,
  );
}
