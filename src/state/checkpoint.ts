import type { BudgetChange } from "../domain/budget.ts";
import type { GateResult } from "../domain/contract.ts";
import { CheckpointCorrupt, StateTooNew } from "../domain/errors.ts";
import type {
  GivenFiles,
  JournalHead,
  PersonaChecks,
  PersonaFiles,
  PersonaResult,
  Transition,
} from "../domain/journal.ts";
import type { Json, JsonObject } from "../domain/json.ts";
import { filesOf } from "../domain/restored-checkpoint.ts";
import { seal, unseal } from "../domain/seal.ts";
import type {
  Completed,
  PhaseRevisions,
  PhaseSource,
  PhaseState,
  RecordedDecision,
  SessionState,
} from "../domain/session-state.ts";
import type { SessionUsage } from "../domain/session-usage.ts";
import type { FilesEdit } from "../domain/words-of-phase.ts";

/** Formats this version reads. A newer one is refused, because what it says might be misunderstood. */
const format = 1;
/** The checkpoint at the session's creation, before any phase. */
export const initPhase = "init";

export interface Predecessor {
  readonly phase: string;
  readonly revision: number;
  readonly sha256: string;
}

/** A phase boundary as JSON. A pure function of the journal, so projecting it twice gives the same bytes. */
export interface CheckpointContent {
  readonly format: number;
  readonly sessionId: string;
  readonly phase: string;
  readonly revision: number;
  readonly createdAt: number;
  readonly journal: JournalHead;
  /** With their hashes: a checkpoint vouches for everything it rests on. */
  readonly predecessors: readonly Predecessor[];
  /** Only in the first: what the session is about. The others rest on it. */
  readonly session?: Omit<Extract<Transition, { kind: "session.created" }>, "kind">;
  readonly teamFingerprint: string;
  /** Only when it is no longer the one the session began with. */
  readonly definition?: Json;
  /** The files each persona saw and left, and the fingerprint of what it read. */
  readonly personas?: Readonly<Record<string, PersonaFiles>>;
  /** The files the phase began with, by the hash of their manifest. */
  readonly base?: string;
  /** The files of the phase, by the hash of their manifest, and the manifest: path, SHA-256, bytes, executable. */
  readonly tree?: string;
  readonly files?: Json;
  /** The files before and after a person changed them. */
  readonly edit?: FilesEdit;
  readonly gate?: GateResult;
  readonly checks?: readonly PersonaChecks[];
  readonly awaitsReview?: boolean;
  /** Missing when it is the work of this session; a phase from outside says so, and where it came from. */
  readonly source?: PhaseSource;
  /** What was given of it, if people have worked on it since. */
  readonly given?: GivenFiles;
  /** What reviewers said when they sent it back. */
  readonly notes?: readonly string[];
  readonly decisions?: readonly RecordedDecision[];
  /** Limits that people have set, and what the session had used: no ceiling is forgotten with the database. */
  readonly budgets?: Readonly<Record<string, BudgetChange>>;
  readonly usage?: readonly SessionUsage[];
  /** At which revision each phase was, where it was not the first: what was sealed of earlier ones no longer counted. */
  readonly revisions?: PhaseRevisions;
  readonly results: Readonly<Record<string, PersonaResult>>;
  readonly attempts: Readonly<Record<string, readonly Json[]>>;
}

export interface Checkpoint {
  readonly content: CheckpointContent;
  readonly sha256: string;
  /** The exact bytes of the file. */
  readonly text: string;
}

export function projectInit(state: SessionState): Checkpoint {
  const { kind: _, ...session } = state.begun;
  const { teamFingerprint } = session;
  return sealCheckpoint({
    ...common(state, initPhase, { ...state.createdHead, teamFingerprint }),
    revision: 1,
    predecessors: [],
    session,
    results: {},
    attempts: {},
  });
}

/** What is not in the state of the phase itself. */
export interface ProjectedWith {
  readonly predecessors: readonly Predecessor[];
  /** The manifest of its files. */
  readonly files: Json | undefined;
  readonly usage: readonly SessionUsage[];
}

export function projectPhase(
  state: SessionState,
  phase: string,
  { predecessors, files, usage }: ProjectedWith,
): Checkpoint {
  const found = state.phases.get(phase);
  if (found?.completed === undefined)
    throw new Error(`phase ${phase} of session ${state.id} is not completed`);
  const results: Record<string, PersonaResult> = {};
  const attempts: Record<string, Json[]> = {};
  for (const [name, persona] of found.personas) {
    if (persona.result !== undefined) results[name] = persona.result;
    attempts[name] = persona.attempts.map(({ round, attempt, status, startedAt, endedAt, failure }) => ({
      round,
      attempt,
      status,
      startedAt,
      endedAt: endedAt ?? null,
      failure: (failure as Json | undefined) ?? null,
    }));
  }
  const { revision } = found;
  const { definition, budgets, revisions } = found.completed;
  const personas = Object.fromEntries([...found.personas].map(([name, persona]) => [name, filesOf(persona)]));
  return sealCheckpoint({
    ...common(state, phase, found.completed),
    ...(definition !== undefined && { definition }),
    ...(budgets !== undefined && { budgets }),
    ...(usage.length > 0 && { usage }),
    ...(revisions !== undefined && { revisions }),
    ...whatItLeft(state, phase, found, files),
    revision,
    predecessors,
    results,
    attempts,
    ...(Object.values(personas).some((files) => Object.keys(files).length > 0) && { personas }),
  });
}

function whatItLeft(state: SessionState, name: string, phase: PhaseState, files: Json | undefined) {
  const { base, tree, edit, gate, checks, source, given, notes } = phase;
  const decisions = state.decisions.filter(({ phase = name }) => phase === name);
  return {
    ...(base !== undefined && { base }),
    ...(tree !== undefined && { tree }),
    ...(files !== undefined && { files }),
    ...(edit !== undefined && { edit }),
    ...(gate !== undefined && { gate }),
    ...(checks.length > 0 && { checks }),
    // Sealed before anybody has looked at it; what people say later is in the journal.
    ...(phase.awaitedReview && { awaitsReview: true }),
    ...(source.kind !== "work" && { source }),
    ...(source.kind !== "given" && given !== undefined && { given }),
    ...(notes.length > 0 && { notes: [...notes] }),
    ...(decisions.length > 0 && { decisions }),
  };
}

/** Accepts exactly what was sealed, for this session, in a format this version knows. */
export function readCheckpoint(bytes: string | Uint8Array, what: string): Checkpoint {
  const { content, sha256 } = unseal(bytes, what);
  const found = content["format"];
  if (typeof found !== "number")
    throw new CheckpointCorrupt(`${what} is damaged: it has no format`, { details: { what } });
  if (found > format) {
    throw new StateTooNew(`${what} has format ${found}; this version of Maestro reads up to ${format}.`, {
      details: { what, found, known: format },
      advice: "Update maestro-hive. Nothing was written.",
    });
  }
  return { content: content as unknown as CheckpointContent, sha256, text: Buffer.from(bytes).toString() };
}

export function checkpointFile(phase: string, revision: number): string {
  return revision === 1 ? `checkpoint_${phase}.json` : `checkpoint_${phase}.${revision}.json`;
}

function common(state: SessionState, phase: string, completed: Completed) {
  const { seq, hash, at, teamFingerprint } = completed;
  return {
    format,
    sessionId: state.id,
    phase,
    createdAt: at,
    journal: { seq, hash },
    teamFingerprint,
  };
}

export function sealCheckpoint(content: CheckpointContent): Checkpoint {
  const text = seal(content as unknown as JsonObject);
  return { content, sha256: unseal(text, content.phase).sha256, text };
}
