import { endsAttempt, isFailure, isTransition } from "./facts.ts";
import type { RecordedRow } from "./journal.ts";
import type { PublicFact } from "./public-fact.ts";
import type { SessionState } from "./session-state.ts";
import { type RequestedTool, ToolRequests } from "./step-facts.ts";

/** A timeline cannot show more separate steps per attempt. */
const mostOffsets = 200;
const mostRestarts = 20;

export interface Place {
  readonly phase: string;
  readonly persona: string;
  readonly round: number;
  readonly attempt: number;
}

/** The course of one attempt. */
export interface AttemptTrail extends Place {
  readonly startedAt: number;
  /** Milliseconds after the start. */
  readonly modelSteps: number[];
  readonly toolSteps: number[];
  readonly waits: { readonly dependency: string; readonly from: number; until: number | undefined }[];
  lastStep: { readonly name: string; readonly at: number } | undefined;
  modelCalls: number;
}

export interface PhaseTrail {
  startedAt: number | undefined;
  endedAt: number | undefined;
  sealedAt: number | undefined;
  /** The files of each revision. */
  readonly trees: Map<number, { readonly tree: string; readonly at: number }>;
}

/** Times and places that pages show and the session's state does not keep. */
export class Chronicle {
  readonly attempts = new Map<number, AttemptTrail>();
  readonly phases = new Map<string, PhaseTrail>();
  /** The latest takeovers after a crash. */
  readonly restarts: number[] = [];
  /** The seqs of the facts that each journal filter shows. */
  readonly transitions: number[] = [];
  readonly failures: number[] = [];
  readonly #requests = new ToolRequests();

  trailOf(started: number | null | undefined): AttemptTrail | undefined {
    return started === null || started === undefined ? undefined : this.attempts.get(started);
  }

  /** Tool calls of the model's last answer that have not run yet. */
  pendingTools(started: number): readonly RequestedTool[] {
    return this.#requests.openOf(started);
  }

  /** `state`: after the row. Returns the tool call that the row answers, if it is a tool's row. */
  add(row: RecordedRow, fact: PublicFact, state: SessionState): RequestedTool | undefined {
    const { seq, at } = row;
    if (isTransition(fact)) this.transitions.push(seq);
    if (isFailure(fact)) this.failures.push(seq);
    if (fact.kind === "step") {
      this.#addStep(row, fact.step);
      return this.#requests.read(row);
    }
    if (fact.kind === "session.claimed" && fact.cause === "recovery") {
      this.restarts.push(at);
      if (this.restarts.length > mostRestarts) this.restarts.shift();
    }
    if (fact.kind === "session.forked") for (const name of fact.kept) this.#endPhase(name, at, state);
    if (fact.kind === "attempt.started") this.#addAttempt(seq, at, fact as Place);
    if (fact.kind === "dependency.waiting")
      this.trailOf(fact.started)?.waits.push({ dependency: fact.dependency, from: at, until: undefined });
    if (endsAttempt(fact)) endWait(this.trailOf(fact.started), at);
    if (fact.phase !== null && fact.persona === null) this.#addPhase(fact, fact.phase, at, state);
    return undefined;
  }

  #addAttempt(seq: number, startedAt: number, { phase, persona, round, attempt }: Place): void {
    this.attempts.set(seq, {
      phase,
      persona,
      round,
      attempt,
      startedAt,
      modelSteps: [],
      toolSteps: [],
      waits: [],
      lastStep: undefined,
      modelCalls: 0,
    });
  }

  #addPhase({ kind }: PublicFact, name: string, at: number, state: SessionState): void {
    const phase = this.#phase(name);
    if (kind === "phase.started") {
      phase.startedAt = at;
      phase.endedAt = undefined;
    } else if (kind === "checkpoint.sealed") phase.sealedAt = at;
    else if (kind === "phase.completed" || kind === "phase.edited") this.#endPhase(name, at, state);
  }

  #endPhase(name: string, at: number, state: SessionState): void {
    const phase = this.#phase(name);
    phase.endedAt = at;
    const { tree, revision = 1 } = state.phases.get(name) ?? {};
    if (tree !== undefined) phase.trees.set(revision, { tree, at });
  }

  #addStep({ attempt, name, at }: RecordedRow, step: string): void {
    const trail = this.trailOf(attempt);
    if (trail === undefined) return;
    const offsets = step === "model" ? trail.modelSteps : step === "wait" ? undefined : trail.toolSteps;
    if (step === "model") trail.modelCalls += 1;
    if (offsets !== undefined && offsets.length < mostOffsets) offsets.push(at - trail.startedAt);
    trail.lastStep = { name: name ?? "", at };
    endWait(trail, at);
  }

  #phase(name: string): PhaseTrail {
    const known = this.phases.get(name);
    if (known !== undefined) return known;
    const phase = { startedAt: undefined, endedAt: undefined, sealedAt: undefined, trees: new Map() };
    this.phases.set(name, phase);
    return phase;
  }
}

/** Any later row of the attempt ends its wait. */
function endWait(trail: AttemptTrail | undefined, at: number): void {
  const last = trail?.waits.at(-1);
  if (last !== undefined) last.until ??= at;
}
