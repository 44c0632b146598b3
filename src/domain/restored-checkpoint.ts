import type { BudgetChange } from "./budget.ts";
import type { GateResult } from "./contract.ts";
import type {
  GivenFiles,
  JournalHead,
  OfAttempt,
  PersonaChecks,
  PersonaFiles,
  PersonaResult,
  Transition,
} from "./journal.ts";
import type { Json } from "./json.ts";
import { plannedPhases } from "./planned.ts";
import {
  type AttemptState,
  type PersonaState,
  type PhaseRevisions,
  type PhaseSource,
  type PhaseState,
  personaOf,
  phaseOf,
  type RecordedDecision,
  type SessionState,
} from "./session-state.ts";
import type { SessionUsage } from "./session-usage.ts";
import type { FilesEdit } from "./words-of-phase.ts";

/** What a checkpoint says, as a session whose rows are gone takes it over. */
export interface RestoredCheckpoint {
  readonly phase: string;
  readonly revision: number;
  readonly sha256: string;
  readonly createdAt: number;
  readonly journal: JournalHead;
  readonly predecessors?: readonly { readonly phase: string; readonly revision: number }[];
  readonly session: Omit<Extract<Transition, { kind: "session.created" }>, "kind">;
  readonly results: Readonly<Record<string, PersonaResult>>;
  readonly attempts: Readonly<
    Record<
      string,
      readonly Pick<AttemptState, "round" | "attempt" | "status" | "startedAt" | "endedAt" | "failure">[]
    >
  >;
  readonly personas?: Readonly<Record<string, PersonaFiles>>;
  readonly base?: string;
  readonly tree?: string;
  readonly edit?: FilesEdit;
  readonly gate?: GateResult;
  readonly checks?: readonly PersonaChecks[];
  readonly awaitsReview?: boolean;
  readonly source?: PhaseSource;
  readonly given?: GivenFiles;
  readonly notes?: readonly string[];
  readonly teamFingerprint: string;
  readonly definition?: Json;
  readonly decisions?: readonly RecordedDecision[];
  readonly budgets?: Readonly<Record<string, BudgetChange>>;
  readonly usage?: readonly SessionUsage[];
  readonly revisions?: PhaseRevisions;
}

/** What the database forgot, as far as a checkpoint knows it. */
export function applyCheckpoint(state: SessionState, checkpoint: RestoredCheckpoint): void {
  const { phase: name, revision, sha256, createdAt, journal } = checkpoint;
  const head = { ...journal, at: createdAt };
  if (name === "init") {
    state.created = { kind: "session.created", ...checkpoint.session };
    state.begun = state.created;
    state.createdHead = head;
    state.initSha256 = sha256;
    if (checkpoint.session.budget !== undefined) state.budgets.set("session", checkpoint.session.budget);
    return;
  }
  const phase = phaseOf(state, name);
  phase.status = "completed";
  phase.revision = revision;
  const { teamFingerprint, definition, budgets, revisions, usage = [] } = checkpoint;
  phase.completed = {
    ...head,
    teamFingerprint,
    ...(definition !== undefined && { definition }),
    ...(budgets !== undefined && { budgets }),
    ...(revisions !== undefined && { revisions }),
  };
  for (const [limited, budget] of Object.entries(budgets ?? {})) state.budgets.set(limited, budget);
  phase.usage = usage;
  phase.checkpoint = { revision, sha256 };
  phase.base = checkpoint.base;
  phase.tree = checkpoint.tree;
  phase.edit = checkpoint.edit;
  phase.gate = checkpoint.gate;
  phase.checks = checkpoint.checks ?? [];
  phase.awaitedReview = checkpoint.awaitsReview === true;
  phase.review = phase.awaitedReview ? "awaiting" : "none";
  if (checkpoint.definition !== undefined) {
    state.teamChanged = true;
    state.created = {
      ...state.created,
      definition: checkpoint.definition,
      teamFingerprint: checkpoint.teamFingerprint,
    };
  }
  // A newer revision tells the whole story of the phase again.
  const others = state.decisions.filter(
    (decision) => decision.phase !== undefined && decision.phase !== name,
  );
  state.decisions.splice(0, state.decisions.length, ...others, ...(checkpoint.decisions ?? []));
  phase.notes = [...(checkpoint.notes ?? [])];
  phase.source = checkpoint.source ?? { kind: "work" };
  phase.given = checkpoint.given ?? givenWith(phase);
  for (const [persona, attempts] of Object.entries(checkpoint.attempts)) {
    const restored = personaOf(state, name, persona);
    restored.result = Object.hasOwn(checkpoint.results, persona) ? checkpoint.results[persona] : undefined;
    restored.candidate = undefined;
    takeFiles(restored, checkpoint.personas?.[persona]);
    const of = { started: 0, phase: name, persona };
    const begun = attempts.map((attempt) => withoutHistory(attempt, of));
    restored.attempts.splice(0, restored.attempts.length, ...begun);
  }
}

/** Nobody works on what has not been accepted: who was sealed after a phase proves that people had looked at it. */
export function acceptBefore(
  { phases }: SessionState,
  { predecessors = [], source }: RestoredCheckpoint,
): void {
  if (source !== undefined) return;
  for (const { phase: name, revision } of predecessors) {
    const phase = phases.get(name);
    if (phase?.revision === revision && phase.review === "awaiting") phase.review = "approved";
  }
}

/** What a fork takes over is its own when it is sealed here; what is not has to come from its parent again. */
export function hasItsPast({ created: { fork, definition }, phases, teamChanged }: SessionState): boolean {
  if (fork === undefined) return true;
  const planned = new Map(plannedPhases(definition).map(({ name, dependsOn }) => [name, dependsOn]));
  const needed = new Set([...(planned.get(fork.at) ?? []), ...fork.edited.map(({ phase }) => phase)]);
  for (const name of needed) for (const before of planned.get(name) ?? []) needed.add(before);
  // What was given rests on nothing: phases before it may well have to run here first.
  for (const name of fork.given ?? []) needed.add(name);
  const isThere = (name: string) => planned.has(name);
  return [...needed].filter(isThere).every((name) => {
    const { status, revision = 1 } = phases.get(name) ?? {};
    // What a changed team sent back is gone through here, whatever the parent has.
    return status === "completed" || (teamChanged && revision > 1);
  });
}

/** One that is still as it was given does not say it twice. */
function givenWith({ source, base, tree }: PhaseState): GivenFiles | undefined {
  if (source.kind !== "given") return undefined;
  return { origin: source.origin, ...(base && { base }), ...(tree && { tree }) };
}

export function takeFiles(persona: PersonaState, { base, tree, input }: PersonaFiles = {}): void {
  persona.base = base;
  persona.tree = tree;
  persona.input = input;
}

export function filesOf({ base, tree, input }: PersonaState): PersonaFiles {
  return {
    ...(base !== undefined && { base }),
    ...(tree !== undefined && { tree }),
    ...(input !== undefined && { input }),
  };
}

/** Its steps, inputs and files are gone with the database. */
function withoutHistory(
  attempt: RestoredCheckpoint["attempts"][string][number],
  of: OfAttempt,
): AttemptState {
  return {
    ...attempt,
    ...of,
    failure: attempt.failure ?? undefined,
    input: "",
    continues: undefined,
    revision: 1,
    hasProgressed: false,
    base: undefined,
    tree: undefined,
    settings: {},
    checks: [],
    healing: [],
    next: undefined,
  };
}
