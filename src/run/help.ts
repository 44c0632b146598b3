import type { CommandFor } from "../domain/advice.ts";
import type { BreakerRecord } from "../domain/breaker.ts";
import type { ErrorJson } from "../domain/error-json.ts";
import type { Ticket, TicketFailure, TicketSpend } from "../domain/ticket.ts";
import { adviceOf, resumeAdvice } from "../journal/explain-stop.ts";
import { needsProgram } from "../journal/planned.ts";
import type { SessionState } from "../journal/session-state.ts";
import { newTicket } from "../tickets/new-ticket.ts";

/** The details of HelpNeeded. Other errors that park for help have none of them. */
interface HelpDetails {
  readonly phase?: string;
  readonly persona?: string;
  readonly category?: string;
  readonly message?: string;
  readonly attempts?: number;
  readonly failures?: readonly TicketFailure[];
  /** Where several personas need help: the error of each. */
  readonly needs?: readonly ErrorJson[];
}

export interface AskedHelp {
  /** With the fingerprints of the tickets in its details. */
  readonly error: ErrorJson;
  readonly tickets: readonly Ticket[];
}

/** The tickets of a parked session, one for each persona that needs help. */
export function askForHelp(
  state: SessionState,
  error: ErrorJson,
  beside: { readonly now: number; readonly spent: TicketSpend; readonly commandFor: CommandFor },
): AskedHelp {
  const { needs } = (error.details ?? {}) as HelpDetails;
  if (needs === undefined) {
    const ticket = ticketFor(state, error, beside);
    return { error: withTicket(error, ticket), tickets: [ticket] };
  }
  const asked = needs.map((need) => ({ need, ticket: ticketFor(state, need, beside) }));
  const named = asked.map(({ need, ticket }) => withTicket(need, ticket));
  return {
    error: { ...error, details: { ...error.details, needs: named } },
    tickets: asked.map(({ ticket }) => ticket),
  };
}

const withTicket = (error: ErrorJson, { fingerprint }: Ticket): ErrorJson => ({
  ...error,
  details: { ...error.details, ticket: fingerprint },
});

function ticketFor(
  state: SessionState,
  error: ErrorJson,
  { now, spent, commandFor }: Parameters<typeof askForHelp>[2],
): Ticket {
  const details = (error.details ?? {}) as HelpDetails;
  const { command } = resumeAdvice({ id: state.id, key: null, needsProgram: needsProgram(state.created) });
  return newTicket(
    {
      sessionId: state.id,
      team: state.created.team,
      phase: details.phase ?? "-",
      persona: details.persona ?? "maestro",
      category: details.category ?? "UNKNOWN",
      message: details.message ?? error.message,
      attempts: details.attempts ?? 0,
      failures: details.failures ?? [],
      details: error.message,
      context: {
        session: state.id,
        ...(state.created.owner !== undefined && { owner: state.created.owner }),
        ...(state.lastWord !== undefined && { "last decision": state.lastWord }),
        steps: String(state.stepCount),
        brief: state.created.brief,
      },
      // A ticket is read on another machine: its commands name the state directory.
      suggestedActions: adviceOf(error).map(({ text, command }) =>
        command === null ? text : `${text}: ${commandFor(...command.slice(1))}`,
      ),
      resumeCommand: command === null ? "" : commandFor(...command.slice(1)),
      spent,
    },
    now,
  );
}

/** A dependency that fails every probe affects all sessions, so it gets a ticket of its own. */
export function ticketForDependency(
  dependency: string,
  { state }: BreakerRecord,
  {
    now,
    waiting,
    commandFor,
  }: { readonly now: number; readonly waiting: readonly string[]; readonly commandFor: CommandFor },
): Ticket {
  const isOpen = state.kind !== "closed";
  const shown = waiting.slice(0, 10).join(" ");
  return newTicket(
    {
      sessionId: "-",
      team: "-",
      phase: "-",
      persona: dependency,
      category: "API_ERROR",
      message: `${dependency} does not answer: its breaker is open and its probes fail`,
      attempts: isOpen ? state.failedProbes : 0,
      failures: [],
      context: {
        dependency,
        "parked until a service answers": waiting.length === 0 ? "none" : `${waiting.length}: ${shown}`,
      },
      suggestedActions: [
        "Check the service, its status page and the network.",
        "Sessions that wait for it resume by themselves once a probe succeeds, where `maestro serve` runs.",
      ],
      resumeCommand: commandFor("breakers", "reset", dependency),
      outage: {
        dependency,
        since: isOpen ? state.openedAt : now,
        ...(state.kind === "open" && { nextProbeAt: state.probeAt }),
      },
    },
    now,
  );
}
