import type { ErrorJson } from "./error-json.ts";
import type { SessionId } from "./ids.ts";
import type {
  AfterFailure,
  JournalHead,
  Message,
  OfAttempt,
  ParkReason,
  PersonaResult,
  RecordedFailure,
  RecordedRow,
  SessionStatus,
  Transition,
} from "./journal.ts";
import { decodeTransition, isStep } from "./journal-codec.ts";
import type { Json } from "./json.ts";
import { RecordedSteps } from "./recorded-steps.ts";

export interface AttemptState extends OfAttempt {
  readonly round: number;
  readonly attempt: number;
  readonly input: string;
  readonly startedAt: number;
  status: "running" | "completed" | "failed";
  endedAt: number | undefined;
  failure: RecordedFailure | undefined;
  next: AfterFailure | undefined;
}

export interface PersonaState {
  readonly attempts: AttemptState[];
  result: PersonaResult | undefined;
  /** Rounds up to this one were used up before a person's resume granted new ones. */
  roundsUsedBefore: number;
  /** What the next attempt inherits from one that an outage ended. */
  inheritance: RecordedSteps | undefined;
}

export interface RunningAttempt {
  readonly persona: PersonaState;
  readonly attempt: AttemptState;
  /** What is recorded of it; replayed by whoever goes on with it. */
  readonly steps: RecordedSteps;
}

export interface PhaseState {
  status: "pending" | "running" | "completed";
  readonly personas: Map<string, PersonaState>;
  completed: (JournalHead & { readonly at: number }) | undefined;
  checkpoint: { readonly revision: number; readonly sha256: string } | undefined;
}

/** What a session's journal says, folded row by row; the same code for a live run and for a replay. */
export interface SessionState {
  readonly id: SessionId;
  created: Extract<Transition, { kind: "session.created" }>;
  /** The row that created it: the head that `checkpoint_init.json` knows. */
  createdHead: JournalHead & { readonly at: number };
  initSha256: string | undefined;
  head: JournalHead;
  /** Where the rows of earlier drivers end. */
  inherited: JournalHead;
  epoch: number;
  status: SessionStatus;
  reason: ParkReason | undefined;
  error: ErrorJson | undefined;
  /** Fingerprint of the last request for help. */
  ticket: string | undefined;
  updatedAt: number;
  stepCount: number;
  /** Automatic claims after an unclean end, in a row, without a new step. */
  recoveries: number;
  /** It was reported as parked or failed and nobody has resumed it since: the next resume grants new rounds. */
  awaitsPerson: boolean;
  readonly phases: Map<string, PhaseState>;
  /** What people said and nobody has acted on yet. */
  messages: Message[];
  /** Attempts under way, by identity. */
  readonly running: Map<number, RunningAttempt>;
}

export function emptyState(id: SessionId): SessionState {
  const nowhere = { seq: 0, hash: "", at: 0 };
  return {
    id,
    created: { kind: "session.created", team: "", definition: null, teamFingerprint: "", brief: "" },
    createdHead: nowhere,
    initSha256: undefined,
    head: nowhere,
    inherited: nowhere,
    epoch: 0,
    status: "queued",
    reason: undefined,
    error: undefined,
    ticket: undefined,
    updatedAt: 0,
    stepCount: 0,
    recoveries: 0,
    awaitsPerson: false,
    phases: new Map(),
    messages: [],
    running: new Map(),
  };
}

/** A row that happened now. The run that made a step will not ask for it again, but its next attempt may. */
export function applyLive(state: SessionState, row: RecordedRow): void {
  apply(state, row, { stepsAreUsed: true });
}

/** A row read back: its step may be asked for again. */
export function applyRecorded(state: SessionState, row: RecordedRow): void {
  apply(state, row, { stepsAreUsed: false });
}

/** Steps are kept by position while their attempt runs; their bodies stay on disk. */
function apply(state: SessionState, row: RecordedRow, { stepsAreUsed }: { stepsAreUsed: boolean }): void {
  advance(state, row);
  if (!isStep(row)) return applyTransition(state, decodeTransition(row), row);
  state.stepCount += 1;
  state.recoveries = 0;
  state.running.get(row.attempt as number)?.steps.add(row, stepsAreUsed);
}

function advance(state: SessionState, { seq, hash, epoch, at }: RecordedRow): void {
  if (epoch !== state.epoch) state.inherited = state.head;
  state.head = { seq, hash };
  state.epoch = epoch;
  state.updatedAt = at;
}

function applyTransition(state: SessionState, entry: Transition, { seq, hash, at }: RecordedRow): void {
  switch (entry.kind) {
    case "session.created":
      state.created = entry;
      state.createdHead = { seq, hash, at };
      return;
    case "session.restored":
      for (const checkpoint of entry.checkpoints)
        applyCheckpoint(state, checkpoint as unknown as RestoredCheckpoint);
      return;
    case "session.claimed":
      // Only to act on a word, or too late: a cancel is final.
      if (entry.cause === "message" || state.status === "canceled") return;
      state.status = "running";
      state.reason = undefined;
      state.error = undefined;
      if (entry.cause === "recovery") state.recoveries += 1;
      else state.recoveries = 0;
      if (entry.cause === "resume") {
        if (state.awaitsPerson) grantRounds(state);
        state.awaitsPerson = false;
        // Who resumes takes back a pause, never a cancel.
        state.messages = state.messages.filter(({ say }) => say === "cancel");
      }
      return;
    case "session.status":
      state.status = entry.status;
      state.reason = entry.reason;
      state.error = entry.error;
      state.ticket = entry.ticket ?? state.ticket;
      state.messages = [];
      if (entry.reason === "help" || entry.status === "failed") state.awaitsPerson = true;
      return;
    case "message.received":
      state.messages.push(entry.message);
      return;
    case "phase.started":
      phaseOf(state, entry.phase).status = "running";
      return;
    case "phase.completed": {
      const phase = phaseOf(state, entry.phase);
      phase.status = "completed";
      phase.completed = { seq, hash, at };
      return;
    }
    case "checkpoint.sealed":
      phaseOf(state, entry.phase).checkpoint = { revision: entry.revision, sha256: entry.sha256 };
      return;
    case "attempt.started": {
      const { round, attempt, input } = entry;
      const persona = personaOf(state, entry.phase, entry.persona);
      const begun: AttemptState = {
        started: seq,
        phase: entry.phase,
        persona: entry.persona,
        round,
        attempt,
        input,
        startedAt: at,
        status: "running",
        endedAt: undefined,
        failure: undefined,
        next: undefined,
      };
      persona.attempts.push(begun);
      const inherited = entry.continues === undefined ? undefined : persona.inheritance;
      persona.inheritance = undefined;
      state.running.set(seq, { persona, attempt: begun, steps: inherited ?? new RecordedSteps() });
      return;
    }
    case "attempt.completed": {
      const { persona, attempt } = endAttempt(state, entry.started);
      attempt.status = "completed";
      attempt.endedAt = at;
      persona.result = entry.result;
      state.recoveries = 0;
      return;
    }
    case "attempt.failed": {
      const { persona, attempt, steps } = endAttempt(state, entry.started);
      if ("continues" in entry.next && entry.next.continues)
        persona.inheritance = steps.inherit(entry.failedStep);
      attempt.status = "failed";
      attempt.endedAt = at;
      attempt.failure = entry.failure;
      attempt.next = entry.next;
      return;
    }
    case "dependency.waiting":
      return;
    case "attempt.diverged":
      state.running.get(entry.started)?.steps.keepOnly(entry.kept);
      return;
  }
}

/** A person's resume grants one new set of rounds, numbered on; going on after a crash, by whatever command, grants none. */
function grantRounds(state: SessionState): void {
  for (const phase of state.phases.values()) {
    for (const persona of phase.personas.values()) {
      const last = persona.attempts.at(-1);
      if (last?.status === "failed") persona.roundsUsedBefore = last.round;
    }
  }
}

export function phaseOf(state: SessionState, name: string): PhaseState {
  let phase = state.phases.get(name);
  if (phase === undefined) {
    phase = { status: "pending", personas: new Map(), completed: undefined, checkpoint: undefined };
    state.phases.set(name, phase);
  }
  return phase;
}

export function personaOf(state: SessionState, phase: string, name: string): PersonaState {
  const { personas } = phaseOf(state, phase);
  let persona = personas.get(name);
  if (persona === undefined) {
    persona = { attempts: [], result: undefined, roundsUsedBefore: 0, inheritance: undefined };
    personas.set(name, persona);
  }
  return persona;
}

function endAttempt(state: SessionState, started: number): RunningAttempt {
  const running = state.running.get(started);
  if (running === undefined)
    throw new Error(`journal of session ${state.id} ends an attempt that does not run: ${started}`);
  state.running.delete(started);
  return running;
}

interface RestoredCheckpoint {
  readonly phase: string;
  readonly revision: number;
  readonly sha256: string;
  readonly createdAt: number;
  readonly journal: JournalHead;
  readonly session: Omit<Extract<Transition, { kind: "session.created" }>, "kind">;
  readonly results: Readonly<Record<string, Json>>;
  readonly attempts: Readonly<
    Record<string, readonly Omit<AttemptState, keyof OfAttempt | "input" | "next">[]>
  >;
}

/** What the database forgot, as far as a checkpoint knows it. */
function applyCheckpoint(state: SessionState, checkpoint: RestoredCheckpoint): void {
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
  phase.completed = head;
  phase.checkpoint = { revision, sha256 };
  for (const [persona, attempts] of Object.entries(checkpoint.attempts)) {
    const restored = personaOf(state, name, persona);
    restored.result = checkpoint.results[persona] as unknown as PersonaResult | undefined;
    for (const attempt of attempts) {
      restored.attempts.push({
        ...attempt,
        failure: attempt.failure ?? undefined,
        started: 0,
        phase: name,
        persona,
        input: "",
        next: undefined,
      });
    }
  }
}
