import { plannedPhases } from "../planned.ts";
import { candidateOf, stepsOfAll } from "../reset-phase.ts";
import * as is from "../schema.ts";
import type { CardPhase, SessionCard } from "../session-card.ts";
import {
  emptyPersona,
  emptyPhase,
  type PersonaCandidate,
  type PersonaState,
  type PhaseState,
  type SessionState,
  wasGiven,
} from "../session-state.ts";
import { mapPersonas } from "../update.ts";
import { personaSpent, phaseContent } from "../values.ts";
import { event, type RowPlace } from "./define.ts";
import { editPhase } from "./phase.ts";

const row = is.object({
  teamFingerprint: is.label,
  /** The first phase that starts again. */
  from: is.name,
  kept: is.list(is.name),
  known: is.list(is.name),
  edited: is.list(phaseContent),
  /** The parent's cost of earlier results, which is not paid again if they are reused. */
  spent: is.list(personaSpent),
  /** Effects that already happened in restarted phases may happen again. */
  repeatEffects: is.optional(is.literal(true)),
});

/**
 * The earlier rows, except the first, are copies of the parent's. This row separates the session from its parent:
 * `kept` phases stay as they are, the others start again, and `known` ones among them reuse earlier results and
 * steps with equal input.
 */
export const forked = event({
  row,
  listed: ({ teamFingerprint }) => ({ standing: { status: "queued" }, teamFingerprint }),
  card: (card, { kept }) => ({
    ...unstarted,
    phases: card?.phases.map(({ name, gate }) => forkedPhase(name, kept, gate)) ?? [],
    lastPhase: kept.at(-1) ?? null,
  }),
  reduce: fork,
  fact: ({ kept }) => ({ kept }),
  logged: "sentence",
  sentence: ({ kept }) =>
    kept.length === 0 ? "forked" : `forked, reuses ${kept.join(", ")} from the forked session`,
  mark: () => "reused",
  isTransition: true,
});

/** The parts of a card that running fills in. */
export const unstarted = {
  lastPhase: null,
  checkpoints: 0,
  resumes: 0,
  direction: { only: false, until: false, pauseAfter: false },
  pausedBy: null,
  review: null,
  error: null,
  wakeAt: null,
  stopping: null,
  held: [],
  calls: [],
  exhausted: [],
  lastFailure: null,
  isUntrusted: false,
} satisfies Partial<SessionCard>;

/** Turns the parent's state into that of a session that has not run. */
function fork(
  state: SessionState,
  entry: is.TypeOf<typeof row>,
  { seq, at, transitions }: RowPlace,
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
  const apart: SessionState = {
    ...state,
    created: state.begun,
    // Not the chain hash, which covers copied steps: a fork restored from its checkpoints has none of them.
    createdHead: { seq, hash: transitions, at, transitions },
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
    // The fork's own driver records the planning. Decisions of restarted work are not made yet.
    decisions: state.decisions.filter(({ phase }) => phase !== undefined && entry.kept.includes(phase)),
    teamChanged: false,
    signals: [],
    lastWord: undefined,
    effects: entry.repeatEffects === true ? effectsOf(state, entry.kept) : state.effects,
    calls: new Map(),
    running: new Map(),
  };
  return entry.edited.reduce((edited, content) => editPhase(edited, content, at), apart);
}

/** Effects in other phases belong to the parent. */
const effectsOf = ({ effects }: SessionState, phases: readonly string[]): SessionState["effects"] =>
  new Map([...effects].filter(([, { phase }]) => phases.includes(phase)));

/** Keeps the phase unchanged. Its steps stay known for a fork of the fork. */
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
  /** The phase where the fork starts. */
  readonly from: string;
  readonly known: readonly string[];
  readonly spent: (persona: string) => PersonaCandidate["spent"];
  readonly running: SessionState["running"];
}

/** Restarts the phase. Given content stays, unless the fork starts there. Known results and steps are candidates. */
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

/** A finished persona's result and steps. For an unfinished one, only the steps that a resume would replay. */
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

/** Steps of the running attempt, or of one that an outage ended. */
function stepsAtHand(
  { attempts, inheritance }: PersonaState,
  running: SessionState["running"],
): PersonaCandidate["steps"] {
  return running.get(attempts.at(-1)?.started ?? 0)?.replays ?? inheritance ?? [];
}

function forkedPhase(name: string, kept: readonly string[], gate: CardPhase["gate"]): CardPhase {
  return kept.includes(name)
    ? { name, status: "reused", ...(gate !== undefined && { gate }) }
    : { name, status: "pending" };
}
