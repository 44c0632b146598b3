import type { GateResult } from "./contract.ts";
import type {
  JournalHead,
  OfAttempt,
  PersonaChecks,
  PersonaFiles,
  PersonaResult,
  Transition,
} from "./journal.ts";
import type { Json } from "./json.ts";
import {
  type AttemptState,
  type PersonaState,
  type PhaseSource,
  personaOf,
  phaseOf,
  type RecordedDecision,
  type SessionState,
} from "./session-state.ts";

/** What a checkpoint says, as a session whose rows are gone takes it over. */
export interface RestoredCheckpoint {
  readonly phase: string;
  readonly revision: number;
  readonly sha256: string;
  readonly createdAt: number;
  readonly journal: JournalHead;
  readonly session: Omit<Extract<Transition, { kind: "session.created" }>, "kind">;
  readonly results: Readonly<Record<string, PersonaResult>>;
  readonly attempts: Readonly<
    Record<
      string,
      readonly Pick<AttemptState, "round" | "attempt" | "status" | "startedAt" | "endedAt" | "failure">[]
    >
  >;
  readonly personas?: Readonly<Record<string, PersonaFiles>>;
  readonly tree?: string;
  readonly gate?: GateResult;
  readonly checks?: readonly PersonaChecks[];
  readonly awaitsReview?: boolean;
  readonly source?: PhaseSource;
  readonly teamFingerprint: string;
  readonly definition?: Json;
  readonly decisions?: readonly RecordedDecision[];
}

/** What the database forgot, as far as a checkpoint knows it. */
export function applyCheckpoint(state: SessionState, checkpoint: RestoredCheckpoint): void {
  const { phase: name, revision, sha256, createdAt, journal } = checkpoint;
  const head = { ...journal, at: createdAt };
  if (name === "init") {
    state.created = { kind: "session.created", ...checkpoint.session };
    state.createdHead = head;
    state.initSha256 = sha256;
    return;
  }
  const phase = phaseOf(state, name);
  phase.status = "completed";
  phase.revision = revision;
  phase.completed = head;
  phase.checkpoint = { revision, sha256 };
  phase.tree = checkpoint.tree;
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
  state.decisions.push(...(checkpoint.decisions ?? []));
  phase.source = checkpoint.source ?? { kind: "work" };
  for (const [persona, attempts] of Object.entries(checkpoint.attempts)) {
    const restored = personaOf(state, name, persona);
    restored.result = checkpoint.results[persona];
    takeFiles(restored, checkpoint.personas?.[persona]);
    for (const attempt of attempts)
      restored.attempts.push(withoutHistory(attempt, { started: 0, phase: name, persona }));
  }
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
    base: undefined,
    tree: undefined,
    settings: {},
    checks: [],
    healing: [],
    next: undefined,
  };
}
