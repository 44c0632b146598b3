import { CheckpointCorrupt, StateTooNew } from "../domain/errors.ts";
import type { Json, JsonObject } from "../domain/json.ts";
import { gateResult, personaChecks } from "./judgment-values.ts";
import { plannedPhases } from "./planned.ts";
import type { RecordedRow } from "./row.ts";
import * as is from "./schema.ts";
import { seal, unseal } from "./seal.ts";
import type { PhaseSource, RecordedDecision, SessionState } from "./session-state.ts";
import {
  budgetChange,
  decisionFields,
  definition,
  type JournalHead,
  journalHead,
  type PersonaResult,
  personaResult,
  type SessionUsage,
  sessionTerms,
  sessionUsage,
} from "./values.ts";

/** The only format that this version writes and reads. */
export const checkpointFormat = 2;
/** The checkpoint of the session's creation, before any phase. */
export const initPhase = "init";

const predecessor = is.object({ phase: is.name, revision: is.positive, sha256: is.sha256 });
export type Predecessor = is.TypeOf<typeof predecessor>;

/** A transition row in a checkpoint. Restore appends it with its seq, and `reduce` derives the state from it. */
const checkpointRow = is.object({
  seq: is.seq,
  at: is.moment,
  kind: is.label,
  /** The exact text, because the digest of the journal covers it. */
  body: is.text,
});
export type CheckpointRow = is.TypeOf<typeof checkpointRow>;

/**
 * A phase boundary as JSON: a summary for people (context, files, decisions, results), and the transition rows
 * since the previous seal, for restore. It depends only on the journal, so projecting it twice gives the same
 * bytes.
 */
const checkpointContent = is.object({
  format: is.whole,
  sessionId: is.label,
  phase: is.name,
  revision: is.positive,
  createdAt: is.moment,
  /** The last row that it covers. */
  journal: journalHead,
  /** Number of steps up to that row. */
  steps: is.whole,
  /** The last row of the previous seal. Together the checkpoints contain the whole history. */
  after: is.whole,
  /** Digest of all transition rows up to `journal`, which covers every earlier checkpoint. */
  transitions: is.sha256,
  /** The sealed phases that it builds on. */
  predecessors: is.list(predecessor),
  /** Only in the first checkpoint: the terms that the session was created with. */
  session: is.optional(sessionTerms),
  teamFingerprint: is.label,
  /** Only if it differs from the definition at the start. */
  definition: is.optional(definition),
  /** The files of the phase: the hash of their manifest, and the manifest (path, SHA-256, bytes, executable). */
  tree: is.optional(is.sha256),
  files: is.optional(is.json),
  gate: is.optional(gateResult),
  checks: is.optional(is.list(personaChecks)),
  awaitsReview: is.optional(is.boolean),
  /** Missing if this session did the work. */
  source: is.optional(
    is.unionFor<PhaseSource, "kind">("kind", {
      work: {},
      given: { origin: is.text },
      edited: {},
      inherited: {},
    }),
  ),
  /** Notes of reviewers who rejected it. */
  notes: is.optional(is.list(is.text)),
  decisions: is.optional(
    is.list(
      is.objectFor<RecordedDecision>({
        ...decisionFields,
        phase: is.optional(is.name),
        persona: is.optional(is.name),
        at: is.time,
      }),
    ),
  ),
  /** Limits that people have set, and the usage of the session. */
  budgets: is.optional(is.record(budgetChange)),
  usage: is.optional(is.list(sessionUsage)),
  results: is.record(personaResult, is.name),
  attempts: is.record(is.list(is.json), is.name),
  rows: is.list(checkpointRow),
});
export type CheckpointContent = is.TypeOf<typeof checkpointContent>;

export interface Checkpoint {
  readonly content: CheckpointContent;
  readonly sha256: string;
  /** The exact bytes of the file. */
  readonly text: string;
}

/** `rows`: the initial history of a fork. */
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

/** The parts of a checkpoint that are not in the state at its head. */
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
    // Sealed before any review. Answers are in later rows.
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

/**
 * The files of a phase that changed nothing: the hash of the base, without changes. A full list may have 200,000
 * rows, and the artifact with that hash has it.
 */
export const unchangedFiles = ({ created }: SessionState, tree: string): Json | undefined =>
  created.source?.tree === tree ? { base: tree, changes: [] } : undefined;

const asCheckpointRow = ({ seq, at, kind, body }: RecordedRow): CheckpointRow => ({ seq, at, kind, body });

function predecessorsOf(state: SessionState, phase: string): Predecessor[] {
  const planned = plannedPhases(state.created.definition).find(({ name }) => name === phase);
  return (planned?.dependsOn ?? []).flatMap((name) => {
    const { checkpoint } = state.phases.get(name) ?? {};
    return checkpoint === undefined ? [] : [{ phase: name, ...checkpoint }];
  });
}

/** Accepts only the sealed bytes, in this version's format. */
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
  const fault = checkpointContent.check(content, "") ?? orderFault(content as unknown as CheckpointContent);
  if (fault !== undefined) {
    const { path: field, problem } = fault;
    throw new CheckpointCorrupt(`${what} is damaged: ${field} ${problem}.`, { details: { what, field } });
  }
  return { content: content as unknown as CheckpointContent, sha256, text: Buffer.from(bytes).toString() };
}

/** Checkpoints are ordered by where they begin and end. */
const orderFault = ({ after, journal }: CheckpointContent): is.Fault | undefined =>
  after < journal.seq ? undefined : { path: "after", problem: "must be less than journal.seq" };

const readerOf = (format: number): string =>
  format > checkpointFormat ? "Update maestro-hive." : `maestro-hive 0.${format}.x reads it.`;

export function checkpointFile(phase: string, revision: number): string {
  return revision === 1 ? `checkpoint_${phase}.json` : `checkpoint_${phase}.${revision}.json`;
}

export function sealCheckpoint(content: CheckpointContent): Checkpoint {
  const text = seal(content as unknown as JsonObject);
  return { content, sha256: unseal(text, content.phase).sha256, text };
}
