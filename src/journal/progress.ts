import { type Exhausted, exhaustedBy, hasFailed } from "./exhausted.ts";
import { sentenceOf } from "./facts.ts";
import type {
  Fact,
  FactKind,
  FactOf,
  FactPlace,
  FailedFact,
  GateFact,
  PlannedFact,
  PublicFact,
} from "./public-fact.ts";
import type { ParkReason, SessionStatus } from "./standing.ts";

export interface PersonaProgress {
  readonly name: string;
  readonly status: "pending" | "running" | "waiting" | "failed" | "completed" | "reused";
  /** It failed and gets no other attempt. */
  readonly exhausted: Exhausted | null;
  readonly round: number;
  readonly attempt: number;
  /** Its current or last activity. */
  readonly activity: string;
  /** When its current wait ends. */
  readonly until: number | undefined;
  readonly startedAt: number | undefined;
  readonly endedAt: number | undefined;
}

export interface PhaseProgress {
  readonly name: string;
  readonly status: "pending" | "running" | "failed" | "completed";
  readonly review: "none" | "awaiting" | "approved";
  readonly gate: GateFact | null;
  readonly startedAt: number | undefined;
  readonly endedAt: number | undefined;
  readonly personas: readonly PersonaProgress[];
}

/** The progress of a session, derived only from its facts. */
export interface SessionProgress {
  readonly team: string;
  readonly brief: string;
  readonly model: string | null;
  readonly status: SessionStatus;
  readonly reason: ParkReason | null;
  readonly wakeAt: number | undefined;
  readonly createdAt: number | undefined;
  readonly claimedAt: number | undefined;
  readonly endedAt: number | undefined;
  readonly phases: readonly PhaseProgress[];
  /** Exhausted budgets and unavailable dependencies, newest last. */
  readonly warnings: readonly string[];
  /** The last applied fact. */
  readonly seq: number;
}

export const noProgress: SessionProgress = {
  team: "",
  brief: "",
  model: null,
  status: "queued",
  reason: null,
  wakeAt: undefined,
  createdAt: undefined,
  claimedAt: undefined,
  endedAt: undefined,
  phases: [],
  warnings: [],
  seq: 0,
};

const mostWarnings = 3;

/** The progress after one more fact. An already applied fact changes nothing. */
export function applyFact(progress: SessionProgress, fact: PublicFact): SessionProgress {
  if (fact.seq <= progress.seq) return progress;
  const change = changes[fact.kind]?.(progress, fact as never, Date.parse(fact.at));
  return { ...progress, ...change, seq: fact.seq };
}

/** The status after one more fact. */
export function statusAfter(status: SessionStatus, fact: Fact): SessionStatus {
  if (fact.kind === "session.status") return fact.status;
  const isDriven = fact.kind === "session.claimed" && fact.cause !== "signal";
  return isDriven && status !== "canceled" ? "running" : status;
}

type Change<Kind extends FactKind> = (
  progress: SessionProgress,
  fact: FactPlace & FactOf<Kind>,
  at: number,
) => Partial<SessionProgress>;

/** Kinds without an entry change nothing that is shown. */
const changes: { readonly [Kind in FactKind]?: Change<Kind> } = {
  "session.created": (progress, { team, brief, model, phases, given }, at) => {
    const planned = { ...progress, phases: plan([], phases) };
    const done = given.reduce(
      (next, name) => completePhase(next, name, at, "supplied from outside"),
      planned,
    );
    return { team, brief, model, createdAt: at, phases: done.phases };
  },
  "team.changed": ({ phases }, fact) => ({
    phases: fact.reset.reduce(resetPhase, plan(phases, fact.phases)),
  }),
  "session.claimed": ({ status, phases }, fact, at) =>
    fact.cause === "signal"
      ? {}
      : {
          phases: phases.map((phase) =>
            phase.status === "failed" ? { ...phase, status: "running" } : phase,
          ),
          status: statusAfter(status, fact),
          reason: null,
          wakeAt: undefined,
          endedAt: undefined,
          claimedAt: at,
        },
  "session.status": ({ phases }, { status, reason, wakeAt }, at) => ({
    phases: phases.map((phase) => (isFailed(phase, status) ? { ...phase, status: "failed" } : phase)),
    status,
    reason,
    wakeAt: timeOf(wakeAt),
    endedAt: status === "running" ? undefined : at,
  }),
  "signal.received": ({ phases }, fact) => ({ phases: afterSignal(phases, fact) }),
  "phase.started": (progress, { phase }, at) =>
    onPhase(progress, phase, () => ({ status: "running", startedAt: at, endedAt: undefined })),
  "phase.completed": (progress, { phase, gate, awaitsReview }, at) =>
    onPhase(progress, phase, () => ({
      status: "completed",
      endedAt: at,
      review: awaitsReview ? "awaiting" : "none",
      gate,
    })),
  "phase.edited": (progress, fact, at) => completePhase(progress, fact.phase, at, sentenceOf(fact)),
  "session.forked": (progress, { kept }, at) =>
    kept.reduce(
      (forked, phase) => completePhase(forked, phase, at, "reused from the forked session"),
      progress,
    ),
  "persona.reused": (progress, fact) =>
    onPersona(progress, fact, () => ({ status: "reused", activity: "its inputs have not changed" })),
  "attempt.started": (progress, fact, at) =>
    onPersona(progress, fact, (persona) => ({
      status: "running",
      exhausted: null,
      round: fact.round ?? 0,
      attempt: fact.attempt ?? 0,
      startedAt: persona.startedAt ?? at,
      endedAt: undefined,
      until: undefined,
      activity: "starts",
    })),
  step: (progress, fact) =>
    onPersona(progress, fact, () => {
      if (fact.step === "wait") return { activity: "waits", until: timeOf(fact.until) };
      const activity = fact.step === "model" ? "the model has answered" : fact.name;
      return { status: "running", until: undefined, activity };
    }),
  "dependency.waiting": (progress, fact) => ({
    ...onPersona(progress, fact, () => ({
      status: "waiting",
      until: timeOf(fact.until),
      activity: sentenceOf(fact),
    })),
    ...(fact.limit === null && {
      warnings: warn(progress, `${fact.dependency} does not answer; its breaker is open`),
    }),
  }),
  "call.waiting": (progress, fact) =>
    onPersona(progress, fact, () => ({
      status: "waiting",
      until: undefined,
      activity: sentenceOf(fact),
    })),
  "attempt.completed": (progress, fact, at) =>
    onPersona(progress, fact, () => ({
      status: "completed",
      endedAt: at,
      until: undefined,
      activity: fact.healed === null ? fact.summary : `healed: ${fact.healed}`,
    })),
  "attempt.failed": afterFailure,
  "attempt.reopened": afterFailure,
  "budget.alerted": (progress, { message }) => ({ warnings: warn(progress, message) }),
};

function afterFailure(
  progress: SessionProgress,
  fact: FactPlace & FailedFact,
  at: number,
): Partial<SessionProgress> {
  return onPersona(progress, fact, () => ({
    status: fact.notBefore === null ? "failed" : "waiting",
    exhausted: exhaustedBy(fact.next),
    until: timeOf(fact.notBefore),
    endedAt: at,
    activity: fact.failure.message,
  }));
}

const isFailed = ({ status, personas }: PhaseProgress, session: SessionStatus): boolean =>
  status === "running" &&
  hasFailed(
    personas.map(({ exhausted }) => exhausted),
    session,
  );

const timeOf = (time: string | null): number | undefined => (time === null ? undefined : Date.parse(time));

const newPersona = (name: string): PersonaProgress => ({
  name,
  status: "pending",
  exhausted: null,
  round: 0,
  attempt: 0,
  activity: "",
  until: undefined,
  startedAt: undefined,
  endedAt: undefined,
});

function plan(known: readonly PhaseProgress[], planned: readonly PlannedFact[]): readonly PhaseProgress[] {
  return planned.map(({ name, personas }) => {
    const before = known.find((phase) => phase.name === name);
    const members = personas.map(
      (persona) => before?.personas.find((member) => member.name === persona) ?? newPersona(persona),
    );
    return { ...(before ?? newPhase(name)), personas: members };
  });
}

const newPhase = (name: string): PhaseProgress => ({
  name,
  status: "pending",
  review: "none",
  gate: null,
  startedAt: undefined,
  endedAt: undefined,
  personas: [],
});

function resetPhase(phases: readonly PhaseProgress[], name: string): readonly PhaseProgress[] {
  return phases.map((phase) =>
    phase.name === name
      ? {
          ...phase,
          status: "pending",
          review: "none",
          gate: null,
          personas: phase.personas.map((persona) => newPersona(persona.name)),
        }
      : phase,
  );
}

/** An answer without a phase is for every phase that waits. */
function afterSignal(
  phases: readonly PhaseProgress[],
  { action, phase: name }: Pick<PublicFact, "phase"> & FactOf<"signal.received">,
): readonly PhaseProgress[] {
  const isMeant = (phase: PhaseProgress) =>
    phase.review === "awaiting" && (name === null || phase.name === name);
  if (action === "approve")
    return phases.map((phase) => (isMeant(phase) ? { ...phase, review: "approved" } : phase));
  if (action !== "reject") return phases;
  return phases.filter(isMeant).reduce((next, phase) => resetPhase(next, phase.name), phases);
}

function completePhase(
  progress: SessionProgress,
  name: string | null,
  at: number,
  why: string,
): SessionProgress {
  return onPhase(progress, name, (phase) => ({
    status: "completed",
    review: "none",
    startedAt: phase.startedAt ?? at,
    endedAt: at,
    personas: phase.personas.map((persona) =>
      persona.status === "completed" ? persona : { ...persona, status: "reused", activity: why },
    ),
  }));
}

function onPhase(
  progress: SessionProgress,
  name: string | null,
  change: (phase: PhaseProgress) => Partial<PhaseProgress>,
): SessionProgress {
  return {
    ...progress,
    phases: progress.phases.map((phase) => (phase.name === name ? { ...phase, ...change(phase) } : phase)),
  };
}

function onPersona(
  progress: SessionProgress,
  { phase, persona: name }: { readonly phase: string | null; readonly persona: string | null },
  change: (persona: PersonaProgress) => Partial<PersonaProgress>,
): SessionProgress {
  return onPhase(progress, phase, ({ personas }) => ({
    personas: personas.map((persona) =>
      persona.name === name ? { ...persona, ...change(persona) } : persona,
    ),
  }));
}

function warn({ warnings }: SessionProgress, warning: string): readonly string[] {
  return [...warnings.filter((other) => other !== warning), warning].slice(-mostWarnings);
}
