import { wasGiven } from "../from-outside.ts";
import type { Message } from "../message.ts";
import { needsProgram, plannedPhases } from "../planned.ts";
import { awaiting, candidateOf, changeTeam, rejectPhase, stepsOfAll } from "../reset-phase.ts";
import {
  type CardPhase,
  cardError,
  cardLimits,
  changeCardPhase,
  cut,
  type SessionCard,
} from "../session-card.ts";
import {
  emptyPersona,
  emptyPhase,
  type PersonaCandidate,
  type PersonaState,
  type PhaseState,
  type SessionState,
} from "../session-state.ts";
import { type Standing, wakeAtOf } from "../standing.ts";
import { mapPersonas, withPhase } from "../update.ts";
import { grantRounds } from "./attempt.ts";
import type { RowPlace, TransitionOf } from "./define.ts";
import { defineEvents } from "./define.ts";
import { completeWith, editPhase } from "./phase.ts";

export const sessionEvents = defineEvents({
  "session.created": {
    card: (_, entry) => newCard(entry),
    reduce(state, entry, { seq, hash, at, transitions }) {
      const created = {
        ...state,
        created: entry,
        begun: entry,
        createdHead: { seq, hash, at, transitions },
        budgets: entry.budget === undefined ? state.budgets : new Map([["session", entry.budget]]),
      };
      // Content from outside is there from the start.
      return (entry.given ?? []).reduce<SessionState>(
        (given, phase) => completeWith(given, phase, { kind: "given", origin: phase.origin }, at),
        created,
      );
    },
  },
  "session.restored": {
    listed: () => ({ standing: { status: "paused" } }),
    card: () => ({ error: null, wakeAt: null, held: [], pauseSaid: false }),
    reduce: (state, { head }) => ({ ...state, standing: { status: "paused" }, restoredSeq: head.seq }),
  },
  "session.forked": {
    listed: ({ teamFingerprint }) => ({ standing: { status: "queued" }, teamFingerprint }),
    card: (card, { kept }) => ({
      ...unstarted,
      phases: card?.phases.map(({ name, gate }) => forkedPhase(name, kept, gate)) ?? [],
      lastPhase: kept.at(-1) ?? null,
    }),
    reduce: fork,
  },
  "session.claimed": {
    listed: ({ cause }) => (cause === "message" ? undefined : { standing: { status: "running" } }),
    card(card, { cause }) {
      if (cause === "message") return undefined;
      return {
        error: null,
        wakeAt: null,
        ...(cause === "resume" && { resumes: (card?.resumes ?? 0) + 1 }),
        ...(cause !== "recovery" && { pauseSaid: false }),
      };
    },
    reduce: claim,
  },
  "session.directed": {
    card: (_, { only, until, pauseAfter = [] }) => ({
      direction: {
        only: only !== undefined,
        until: until !== undefined,
        pauseAfter: pauseAfter.length > 0,
      },
    }),
    reduce(state, entry) {
      const { kind: _, ...direction } = entry;
      return { ...state, direction };
    },
  },
  "session.status": {
    listed: (entry) => ({ standing: standingOf(entry) }),
    card: (_, entry) => ({
      error: "error" in entry ? cardError(entry.error) : null,
      wakeAt: wakeAtOf(entry) ?? null,
      held: [],
    }),
    reduce(state, entry) {
      const standing = standingOf(entry);
      const needsPerson =
        standing.status === "failed" || (standing.status === "parked" && standing.reason === "help");
      return {
        ...state,
        standing,
        stoodFor: undefined,
        tickets: entry.tickets ?? state.tickets,
        messages: [],
        awaitsPerson: state.awaitsPerson || needsPerson,
      };
    },
  },
  "team.changed": {
    listed: ({ teamFingerprint }) => ({ teamFingerprint }),
    card(card, { definition, reset }) {
      const planned = plannedPhases(definition);
      const known = new Map((card?.phases ?? []).map((phase) => [phase.name, phase]));
      return {
        phases: planned.slice(0, cardLimits.phases).map(({ name }): CardPhase => {
          const phase = known.get(name);
          return phase === undefined || reset.includes(name) ? { name, status: "pending" } : phase;
        }),
        phaseCount: planned.length,
        limit: limitOf(definition),
      };
    },
    reduce(state, entry) {
      const { definition, teamFingerprint, decisions } = entry;
      const created = {
        ...state.created,
        definition,
        teamFingerprint,
        ...(decisions !== undefined && { decisions }),
      };
      return { ...state, ...changeTeam(state, entry), teamChanged: true, created };
    },
  },
  "decision.recorded": {
    reduce(state, entry, { at }) {
      const { kind: _, ...decision } = entry;
      return { ...state, decisions: [...state.decisions, { ...decision, at }] };
    },
  },
  "message.received": {
    card: (card, { message }) => (card === undefined ? undefined : cardAfterSignal(card, message)),
    reduce: (state, { message }) => receive(state, message),
  },
  "budget.alerted": { reduce: (state) => state },
});

function standingOf(entry: TransitionOf<"session.status">): Standing {
  const { kind: _, tickets: __, ...standing } = entry;
  return standing;
}

function claim(state: SessionState, { cause }: TransitionOf<"session.claimed">): SessionState {
  const { standing } = state;
  // A claim for a signal changes nothing, and a cancel is final.
  if (cause === "message" || standing.status === "canceled") return state;
  const stoodFor =
    standing.status === "parked" && (standing.reason === "help" || standing.reason === "budget")
      ? { reason: standing.reason, error: standing.error }
      : state.stoodFor;
  const isFresh = cause === "resume" || !state.awaitsPerson;
  const claimed: SessionState = {
    ...state,
    stoodFor,
    standing: { status: "running" },
    recoveries: cause === "recovery" ? state.recoveries + 1 : isFresh ? 0 : state.recoveries,
  };
  if (cause !== "resume") return claimed;
  return {
    ...(state.awaitsPerson ? grantRounds(claimed) : claimed),
    awaitsPerson: false,
    resumes: state.resumes + 1,
    // A resume takes back a pause, never a cancel.
    messages: state.messages.filter(({ say }) => say === "cancel"),
  };
}

function receive(state: SessionState, message: Message): SessionState {
  switch (message.say) {
    case "pause":
    case "cancel":
      return { ...state, messages: [...state.messages, message] };
    case "approve":
      return awaiting(state, message.phase).reduce(
        (approved, [name]) => withPhase(approved, name, { review: "approved" }),
        state,
      );
    case "reject":
      return awaiting(state, message.phase).reduce(
        (rejected, [name, phase]) => withPhase(rejected, name, rejectPhase(phase, message.note)),
        state,
      );
    case "budget": {
      const name = `${message.level} ${message.name ?? ""}`.trim();
      const budget = { ...state.budgets.get(name), ...message.budget };
      return { ...state, budgets: new Map(state.budgets).set(name, budget) };
    }
  }
}

/** The parent's state becomes that of a session which has not run yet. */
function fork(
  state: SessionState,
  entry: TransitionOf<"session.forked">,
  { seq, hash, at, transitions }: RowPlace,
): SessionState {
  const spentOn = (phase: string, persona: string): PersonaCandidate["spent"] =>
    entry.spent.find((spent) => spent.phase === phase && spent.persona === persona)?.amounts ?? [];
  const phases = new Map<string, PhaseState>();
  for (const { name } of plannedPhases(state.begun.definition)) {
    const known = state.phases.get(name) ?? state.removed.get(name);
    if (known === undefined) continue;
    const spent = (persona: string) => spentOn(name, persona);
    if (entry.kept.includes(name)) phases.set(name, keepPhase(known, spent));
    else phases.set(name, startAgain(known, { ...entry, name, spent, running: state.running }));
  }
  const forked: SessionState = {
    ...state,
    created: state.begun,
    createdHead: { seq, hash, at, transitions },
    standing: { status: "queued" },
    stoodFor: undefined,
    tickets: [],
    resumes: 0,
    recoveries: 0,
    stepCount: 0,
    awaitsPerson: false,
    phases,
    seals: new Map(),
    removed: new Map(),
    direction: {},
    // Planning is recorded by the fork's own driver; decisions of work that starts again are not made yet.
    decisions: state.decisions.filter(({ phase }) => phase !== undefined && entry.kept.includes(phase)),
    teamChanged: false,
    messages: [],
    running: new Map(),
  };
  return entry.edited.reduce((edited, content) => editPhase(edited, content, at), forked);
}

/** Taken over as it is. Its steps stay known for a fork of the fork. */
function keepPhase(phase: PhaseState, spentOn: (persona: string) => PersonaCandidate["spent"]): PhaseState {
  return {
    ...phase,
    status: "completed",
    review: "none",
    awaitedReview: false,
    groups: new Map(),
    checkpoint: undefined,
    source: phase.source.kind === "given" ? phase.source : { kind: "inherited" },
    personas: mapPersonas(phase, (persona, name) => {
      const { result, base, tree, checks, input } = persona;
      const hasWorked = persona.attempts.length > 0 || persona.candidate !== undefined;
      const steps = hasWorked
        ? { ...noCandidate, steps: stepsOfAll(persona), spent: spentOn(name) }
        : undefined;
      return { ...emptyPersona, result, base, tree, checks, input, reused: true, candidate: steps };
    }),
  };
}

const noCandidate: PersonaCandidate = {
  input: undefined,
  result: undefined,
  base: undefined,
  tree: undefined,
  checks: [],
  steps: [],
  spent: [],
};

interface Restart {
  readonly name: string;
  /** Where the fork starts. */
  readonly from: string;
  readonly known: readonly string[];
  readonly spent: (persona: string) => PersonaCandidate["spent"];
  readonly running: SessionState["running"];
}

/** Starts again. What was given stays, unless the fork starts there; known results and steps are candidates. */
function startAgain(phase: PhaseState, { name, from, known, spent, running }: Restart): PhaseState {
  const given = name === from ? undefined : phase.given;
  const isKnown = known.includes(name);
  return {
    ...emptyPhase,
    given,
    ...(isKnown && { notes: phase.notes, edit: phase.edit }),
    personas: mapPersonas(phase, (persona, personaName): PersonaState => {
      const candidate = isKnown ? restarted(persona, spent(personaName), running) : undefined;
      if (given === undefined || !wasGiven(phase, persona)) return { ...emptyPersona, candidate };
      const { result, base, tree } = persona;
      return { ...emptyPersona, candidate, result, base, tree, reused: true };
    }),
  };
}

/** A finished persona's result and steps. Of an unfinished one, only the steps that a resume would replay. */
function restarted(
  persona: PersonaState,
  spent: PersonaCandidate["spent"],
  running: SessionState["running"],
): PersonaCandidate | undefined {
  const { result, input, candidate, attempts } = persona;
  if (result !== undefined && input !== undefined) return candidateOf(persona, spent);
  const steps = [...(candidate?.steps ?? []), ...persona.leftover, ...stepsAtHand(persona, running)];
  if (candidate === undefined && steps.length === 0 && attempts.length === 0) return undefined;
  return { ...(candidate ?? noCandidate), steps, spent: candidate?.spent ?? spent };
}

/** Of the attempt under way, or of the one that an outage ended. */
function stepsAtHand(
  { attempts, inheritance }: PersonaState,
  running: SessionState["running"],
): PersonaCandidate["steps"] {
  return running.get(attempts.at(-1)?.started ?? 0)?.replays ?? inheritance ?? [];
}

/** The parts of a card that running a session fills. */
const unstarted = {
  lastPhase: null,
  checkpoints: 0,
  resumes: 0,
  direction: { only: false, until: false, pauseAfter: false },
  pauseSaid: false,
  review: null,
  error: null,
  wakeAt: null,
  held: [],
  lastFailure: null,
} satisfies Partial<SessionCard>;

function newCard(created: TransitionOf<"session.created">): SessionCard {
  const { brief, model, fork, definition, given = [] } = created;
  const planned = plannedPhases(definition);
  const done = new Set(given.map(({ phase }) => phase));
  return {
    ...unstarted,
    brief: cut(brief, cardLimits.textLength),
    model: model ?? null,
    fork: fork === undefined ? null : { session: fork.session, at: fork.at },
    phases: planned
      .slice(0, cardLimits.phases)
      .map(({ name }) => ({ name, status: done.has(name) ? "completed" : "pending" })),
    phaseCount: planned.length,
    needsProgram: needsProgram(created),
    lastPhase: given.at(-1)?.phase ?? null,
    limit: limitOf(definition),
    raised: created.budget ?? {},
  };
}

function forkedPhase(name: string, kept: readonly string[], gate: CardPhase["gate"]): CardPhase {
  return kept.includes(name)
    ? { name, status: "reused", ...(gate !== undefined && { gate }) }
    : { name, status: "pending" };
}

function cardAfterSignal(card: SessionCard, message: Message): Partial<SessionCard> | undefined {
  switch (message.say) {
    case "pause":
      return { pauseSaid: true };
    case "approve":
      return answered(card, message.phase);
    case "reject": {
      const phase = message.phase ?? card.review?.phase;
      if (phase === undefined) return undefined;
      return { ...answered(card, phase), phases: changeCardPhase(card, phase, { status: "pending" }) };
    }
    case "budget":
      return message.level === "session" ? { raised: { ...card.raised, ...message.budget } } : undefined;
    case "cancel":
      return undefined;
  }
}

/** A card knows one phase that awaits review; the answer for another one leaves it waiting. */
const answered = ({ review }: SessionCard, phase = review?.phase): Partial<SessionCard> =>
  review?.phase === phase ? { review: null } : {};

function limitOf(definition: unknown): SessionCard["limit"] {
  const { budget } = (definition ?? {}) as { budget?: { tokens?: number; usd?: number } | null };
  return {
    ...(budget?.tokens !== undefined && { tokens: budget.tokens }),
    ...(budget?.usd !== undefined && { microUsd: Math.round(budget.usd * 1_000_000) }),
  };
}
