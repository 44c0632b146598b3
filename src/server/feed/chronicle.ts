import type { RecordedRow, Transition } from "../../domain/journal.ts";
import type { SessionState } from "../../domain/session-state.ts";
import { type AskedTool, askedIn, takeAsked } from "../views/asked-tools.ts";

/** Steps a timeline shows of one attempt; more cannot be told apart. */
const mostOffsets = 200;
const mostRestarts = 20;

export interface Place {
  readonly phase: string;
  readonly persona: string;
  readonly round: number;
  readonly attempt: number;
}

/** What happened inside one attempt, as far as people look at it. */
export interface AttemptTrail {
  readonly place: Place;
  readonly startedAt: number;
  /** Of its newest row. */
  lastAt: number;
  readonly modelSteps: number[];
  readonly toolSteps: number[];
  readonly waits: { readonly dependency: string; readonly from: number; until: number | undefined }[];
  lastStep: { readonly kind: string; readonly name: string; readonly at: number } | undefined;
  modelCalls: number;
  /** Tools that the model's last answer asked for and that have not been run yet. */
  readonly asked: AskedTool[];
}

export interface PhaseTrail {
  startedAt: number | undefined;
  endedAt: number | undefined;
  sealedAt: number | undefined;
  /** The files that each revision left. */
  readonly trees: Map<number, { readonly tree: string; readonly at: number }>;
}

/** Times and places that the state of a session forgets and that people want to see. */
export class Chronicle {
  readonly attempts = new Map<number, AttemptTrail>();
  readonly phases = new Map<string, PhaseTrail>();
  /** When a driver took over after an unclean end; the newest. */
  readonly restarts: number[] = [];
  /** The seq of every claim, so that a stream of steps shows where the driver changed. */
  readonly claims: { readonly seq: number; readonly at: number }[] = [];
  /** By seq, for lists that show only these. */
  readonly transitions: number[] = [];
  readonly failures: number[] = [];

  /** The trail an entry belongs to, before or after it was added. */
  trailOf(started: number | null | undefined): AttemptTrail | undefined {
    return started === null || started === undefined ? undefined : this.attempts.get(started);
  }

  step(row: RecordedRow): void {
    const { attempt, kind, name, at } = row;
    const trail = this.trailOf(attempt);
    if (trail === undefined) return;
    if (kind === "step.tool") takeAsked(trail.asked, name);
    const offset = at - trail.startedAt;
    if (kind === "step.model") {
      trail.modelCalls += 1;
      trail.asked.splice(0, trail.asked.length, ...askedIn(row));
      if (trail.modelSteps.length < mostOffsets) trail.modelSteps.push(offset);
    } else if (kind !== "step.wait" && trail.toolSteps.length < mostOffsets) trail.toolSteps.push(offset);
    trail.lastStep = { kind: kind.slice("step.".length), name: name ?? "", at };
    endWait(trail, at);
    trail.lastAt = at;
  }

  /** `state`: before the row is applied. */
  transition(state: SessionState, row: RecordedRow, entry: Transition): void {
    const { seq, at } = row;
    switch (entry.kind) {
      case "session.claimed":
        this.claims.push({ seq, at });
        if (entry.cause === "recovery") this.restarts.push(at);
        if (this.restarts.length > mostRestarts) this.restarts.shift();
        return;
      case "phase.started":
        this.#phase(entry.phase).startedAt = at;
        this.#phase(entry.phase).endedAt = undefined;
        return;
      case "phase.completed":
      case "phase.edited":
      case "phase.inherited": {
        const phase = this.#phase(entry.phase);
        phase.endedAt = at;
        const revision =
          (state.phases.get(entry.phase)?.revision ?? 1) + (entry.kind === "phase.edited" ? 1 : 0);
        if (entry.tree !== undefined) phase.trees.set(revision, { tree: entry.tree, at });
        return;
      }
      case "checkpoint.sealed":
        this.#phase(entry.phase).sealedAt = at;
        return;
      case "attempt.started": {
        const { phase, persona, round, attempt } = entry;
        this.attempts.set(seq, {
          place: { phase, persona, round, attempt },
          startedAt: at,
          lastAt: at,
          modelSteps: [],
          toolSteps: [],
          waits: [],
          lastStep: undefined,
          modelCalls: 0,
          asked: [],
        });
        return;
      }
      case "dependency.waiting":
        this.trailOf(entry.started)?.waits.push({ dependency: entry.dependency, from: at, until: undefined });
        return;
      case "attempt.completed":
      case "attempt.failed": {
        const trail = this.trailOf(entry.started);
        if (trail !== undefined) {
          endWait(trail, at);
          trail.lastAt = at;
        }
        return;
      }
      case "session.created":
      case "session.restored":
      case "session.status":
      case "session.directed":
      case "team.changed":
      case "message.received":
      case "decision.recorded":
      case "group.merged":
      case "persona.inherited":
      case "persona.reused":
      case "fork.copied":
      case "attempt.reopened":
      case "attempt.diverged":
      case "budget.alerted":
        return;
    }
  }

  #phase(name: string): PhaseTrail {
    let phase = this.phases.get(name);
    if (phase === undefined) {
      phase = { startedAt: undefined, endedAt: undefined, sealedAt: undefined, trees: new Map() };
      this.phases.set(name, phase);
    }
    return phase;
  }
}

/** Whatever comes after a wait ends it. */
function endWait({ waits }: AttemptTrail, at: number): void {
  const last = waits.at(-1);
  if (last !== undefined) last.until ??= at;
}
