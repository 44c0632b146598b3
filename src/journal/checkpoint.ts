import type { BudgetChange } from "../domain/budget.ts";
import type { GateResult } from "../domain/contract.ts";
import { CheckpointCorrupt, StateTooNew } from "../domain/errors.ts";
import type { Json, JsonObject } from "../domain/json.ts";
import type {
  JournalHead,
  PersonaChecks,
  PersonaResult,
  RecordedRow,
  SessionUsage,
  Transition,
} from "./journal.ts";
import { plannedPhases } from "./planned.ts";
import { seal, unseal } from "./seal.ts";
import type { PhaseSource, RecordedDecision, SessionState } from "./session-state.ts";

/** The one format that this version writes and reads. */
export const checkpointFormat = 2;
/** The checkpoint of the session's creation, before any phase. */
export const initPhase = "init";

export interface Predecessor {
  readonly phase: string;
  readonly revision: number;
  readonly sha256: string;
}

/** A transition row in a checkpoint. Restore appends it with its seq, and `reduce` makes the state from it. */
export interface CheckpointRow {
  readonly seq: number;
  readonly at: number;
  readonly kind: string;
  /** The exact text, because the digest of the journal covers it. */
  readonly body: string;
}

/**
 * A phase boundary as JSON: a summary for people (context, files, decisions, results), and the transition rows since the
 * previous seal for restore. A pure function of the journal, so projecting it twice gives the same bytes.
 */
export interface CheckpointContent {
  readonly format: number;
  readonly sessionId: string;
  readonly phase: string;
  readonly revision: number;
  readonly createdAt: number;
  /** The last row that it covers. */
  readonly journal: JournalHead;
  /** Steps recorded up to that row. */
  readonly steps: number;
  /** The last row that the previous seal covers: together they tell the whole history. */
  readonly after: number;
  /** Digest over all transition rows up to `journal`: it vouches for every checkpoint before it. */
  readonly transitions: string;
  /** The sealed phases it builds on. */
  readonly predecessors: readonly Predecessor[];
  /** Only in the first: what the session is about. */
  readonly session?: Omit<Extract<Transition, { kind: "session.created" }>, "kind">;
  readonly teamFingerprint: string;
  /** Only when it is no longer the one the session began with. */
  readonly definition?: Json;
  /** The files of the phase: the hash of their manifest, and the manifest (path, SHA-256, bytes, executable). */
  readonly tree?: string;
  readonly files?: Json;
  readonly gate?: GateResult;
  readonly checks?: readonly PersonaChecks[];
  readonly awaitsReview?: boolean;
  /** Missing for the work of this session. */
  readonly source?: PhaseSource;
  /** Notes of reviewers who rejected it. */
  readonly notes?: readonly string[];
  readonly decisions?: readonly RecordedDecision[];
  /** Limits that people have set, and what the session had used. */
  readonly budgets?: Readonly<Record<string, BudgetChange>>;
  readonly usage?: readonly SessionUsage[];
  readonly results: Readonly<Record<string, PersonaResult>>;
  readonly attempts: Readonly<Record<string, readonly Json[]>>;
  readonly rows: readonly CheckpointRow[];
}

export interface Checkpoint {
  readonly content: CheckpointContent;
  readonly sha256: string;
  /** The exact bytes of the file. */
  readonly text: string;
}

/** `rows`: the history that a fork begins with. */
export function projectInit(state: SessionState, rows: readonly RecordedRow[] = []): Checkpoint {
  const { kind: _, ...session } = state.begun;
  const { seq, hash, at, transitions } = state.createdHead;
  return sealCheckpoint({
    format: checkpointFormat,
    sessionId: state.id,
    phase: initPhase,
    revision: 1,
    createdAt: at,
    journal: { seq, hash },
    steps: 0,
    after: 0,
    transitions,
    predecessors: [],
    session,
    teamFingerprint: session.teamFingerprint,
    results: {},
    attempts: {},
    rows: rows.map(asCheckpointRow),
  });
}

/** Everything in a checkpoint that is not in the state at its head. */
export interface ProjectedWith {
  readonly head: JournalHead;
  readonly steps: number;
  readonly after: number;
  /** The manifest of its files. */
  readonly files: Json | undefined;
  readonly usage: readonly SessionUsage[];
  readonly rows: readonly RecordedRow[];
}

export function projectPhase(
  state: SessionState,
  name: string,
  { head, steps, after, files, usage, rows }: ProjectedWith,
): Checkpoint {
  const phase = state.phases.get(name);
  if (phase?.completedAt === undefined)
    throw new Error(`phase ${name} of session ${state.id} is not completed`);
  const { revision, tree, gate, checks, source, notes } = phase;
  const { created, budgets } = state;
  const decisions = state.decisions.filter((decision) => (decision.phase ?? name) === name);
  const results: Record<string, PersonaResult> = {};
  const attempts: Record<string, Json[]> = {};
  for (const [persona, known] of phase.personas) {
    if (known.result !== undefined) results[persona] = known.result;
    attempts[persona] = known.attempts.map(({ round, attempt, status, startedAt, endedAt, failure }) => ({
      round,
      attempt,
      status,
      startedAt,
      endedAt: endedAt ?? null,
      failure: (failure as Json | undefined) ?? null,
    }));
  }
  return sealCheckpoint({
    format: checkpointFormat,
    sessionId: state.id,
    phase: name,
    revision,
    createdAt: phase.completedAt,
    journal: head,
    steps,
    after,
    transitions: state.transitions,
    predecessors: predecessorsOf(state, name),
    teamFingerprint: created.teamFingerprint,
    ...(state.teamChanged && { definition: created.definition }),
    ...(tree !== undefined && { tree }),
    ...(files !== undefined && { files }),
    ...(gate !== undefined && { gate }),
    ...(checks.length > 0 && { checks }),
    // Sealed before any review; answers are in later rows.
    ...(phase.awaitedReview && { awaitsReview: true }),
    ...(source.kind !== "work" && { source }),
    ...(notes.length > 0 && { notes }),
    ...(decisions.length > 0 && { decisions }),
    ...(budgets.size > 0 && { budgets: Object.fromEntries(budgets) }),
    ...(usage.length > 0 && { usage }),
    results,
    attempts,
    rows: rows.map(asCheckpointRow),
  });
}

const asCheckpointRow = ({ seq, at, kind, body }: RecordedRow): CheckpointRow => ({ seq, at, kind, body });

function predecessorsOf(state: SessionState, phase: string): Predecessor[] {
  const planned = plannedPhases(state.created.definition).find(({ name }) => name === phase);
  return (planned?.dependsOn ?? []).flatMap((name) => {
    const { checkpoint } = state.phases.get(name) ?? {};
    return checkpoint === undefined ? [] : [{ phase: name, ...checkpoint }];
  });
}

/** Accepts exactly what was sealed, in the format of this version. */
export function readCheckpoint(bytes: string | Uint8Array, what: string): Checkpoint {
  const { content, sha256 } = unseal(bytes, what);
  const found = content["format"];
  if (typeof found !== "number")
    throw new CheckpointCorrupt(`${what} is damaged: it has no format`, { details: { what } });
  if (found !== checkpointFormat) {
    throw new StateTooNew(
      `${what} has checkpoint format ${found}; this version of Maestro reads format ${checkpointFormat}.`,
      {
        details: { what, found, known: checkpointFormat },
        advice: `${readerOf(found)} Nothing was written.`,
      },
    );
  }
  return { content: content as unknown as CheckpointContent, sha256, text: Buffer.from(bytes).toString() };
}

const readerOf = (format: number): string =>
  format > checkpointFormat ? "Update maestro-hive." : `maestro-hive 0.${format}.x reads it.`;

export function checkpointFile(phase: string, revision: number): string {
  return revision === 1 ? `checkpoint_${phase}.json` : `checkpoint_${phase}.${revision}.json`;
}

export function sealCheckpoint(content: CheckpointContent): Checkpoint {
  const text = seal(content as unknown as JsonObject);
  return { content, sha256: unseal(text, content.phase).sha256, text };
}
