import type { ErrorJson } from "../domain/error-json.ts";
import type { ParkReason, PersonaResult, RecordedFailure, SessionStatus } from "../domain/journal.ts";
import type { PersonaState, PhaseState, SessionState } from "../domain/session-state.ts";
import type { TicketRecord } from "../state/ticket-store.ts";
import type { Outcome } from "./driver.ts";

/** A request for help, as people look for it. */
export interface TicketView {
  readonly fingerprint: string;
  readonly summary: string;
  readonly status: TicketRecord["delivery"]["kind"];
  /** Where the tracker has it, once it is delivered. */
  readonly key: string | null;
  readonly url: string | null;
}

export interface SessionResult extends Omit<Outcome, "ticket"> {
  readonly ticket: TicketView | null;
  readonly id: string;
  /** Phase, then persona. */
  readonly results: Readonly<Record<string, Readonly<Record<string, PersonaResult>>>>;
}

export interface SessionView {
  readonly id: string;
  readonly key: string | null;
  readonly team: string;
  readonly brief: string;
  readonly status: SessionStatus;
  readonly reason: ParkReason | null;
  readonly error: ErrorJson | null;
  readonly model: string | null;
  readonly teamFile: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly steps: number;
  readonly phases: readonly PhaseView[];
  readonly ticket: TicketView | null;
}

export interface PhaseView {
  readonly name: string;
  readonly status: PhaseState["status"];
  readonly personas: readonly PersonaView[];
  readonly checkpoint: { readonly revision: number; readonly sha256: string } | null;
}

export interface PersonaView {
  readonly name: string;
  readonly status: "pending" | "running" | "completed" | "failed";
  readonly round: number;
  readonly attempt: number;
  readonly attempts: readonly {
    readonly round: number;
    readonly attempt: number;
    readonly status: string;
    readonly startedAt: string;
    readonly endedAt: string | null;
    readonly failure: RecordedFailure | null;
  }[];
  readonly summary: string | null;
}

export function resultsOf(state: SessionState): SessionResult["results"] {
  return Object.fromEntries(
    [...state.phases].map(([phase, { personas }]) => [
      phase,
      Object.fromEntries(
        [...personas].flatMap(([name, { result }]) => (result === undefined ? [] : [[name, result]])),
      ),
    ]),
  );
}

export function describeSession(state: SessionState, ticket: TicketView | null): SessionView {
  const { created, createdHead } = state;
  return {
    id: state.id,
    key: created.key ?? null,
    team: created.team,
    brief: created.brief,
    status: state.status,
    reason: state.reason ?? null,
    error: state.error ?? null,
    model: created.model ?? null,
    teamFile: created.teamFile ?? null,
    createdAt: isoTime(createdHead.at),
    updatedAt: isoTime(state.updatedAt),
    steps: state.stepCount,
    phases: plannedPhases(state).map(({ name, personas }) => {
      const phase = state.phases.get(name);
      return {
        name,
        status: phase?.status ?? "pending",
        personas: personas.map((persona) => describePersona(persona.name, phase?.personas.get(persona.name))),
        checkpoint: phase?.checkpoint ?? null,
      };
    }),
    ticket,
  };
}

export function describeTicket({ ticket, delivery }: TicketRecord): TicketView {
  const { key, url } = delivery.kind === "delivered" ? delivery.reference : { key: null, url: null };
  return { fingerprint: ticket.fingerprint, summary: ticket.summary, status: delivery.kind, key, url };
}

function describePersona(name: string, persona: PersonaState | undefined): PersonaView {
  const last = persona?.attempts.at(-1);
  return {
    name,
    status: persona?.result !== undefined ? "completed" : (last?.status ?? "pending"),
    round: last?.round ?? 0,
    attempt: last?.attempt ?? 0,
    attempts: (persona?.attempts ?? []).map(({ round, attempt, status, startedAt, endedAt, failure }) => ({
      round,
      attempt,
      status,
      startedAt: isoTime(startedAt),
      endedAt: endedAt === undefined ? null : isoTime(endedAt),
      failure: failure ?? null,
    })),
    summary: persona?.result?.summary ?? null,
  };
}

function isoTime(at: number): string {
  return new Date(at).toISOString();
}

/** The team as it was when the session began: phases that have not started are shown too. */
function plannedPhases(
  state: SessionState,
): readonly { readonly name: string; readonly personas: readonly { readonly name: string }[] }[] {
  const definition = state.created.definition as {
    phases?: { name: string; personas: { name: string }[] }[];
  } | null;
  return definition?.phases ?? [];
}
