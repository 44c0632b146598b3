import type { BudgetChange } from "../domain/budget.ts";
import type { CheckResult, GateResult } from "../domain/contract.ts";
import type { ErrorJson } from "../domain/error-json.ts";
import type { AttemptSettings, Healed } from "../domain/healing-action.ts";
import type { SessionId } from "../domain/ids.ts";
import type { PutBack } from "../domain/put-back.ts";
import type { Delivered } from "./delivered.ts";
import type { Effects } from "./effect.ts";
import type { BaselineRun, PersonaChecks } from "./judgment-values.ts";
import type { PersonNote } from "./person-note.ts";
import type { SetupState } from "./setup-state.ts";
import type { Signal } from "./signal.ts";
import type { RemainingReason, Standing } from "./standing.ts";
import type { StepSelection } from "./step-selection.ts";
import type {
  AfterFailure,
  Decision,
  Direction,
  FilesEdit,
  GivenFiles,
  JournalHead,
  OfAttempt,
  PaidAmount,
  PersonaResult,
  RecordedFailure,
  SessionCreated,
} from "./values.ts";
import type { Calls } from "./waiting-call.ts";

export interface AttemptState extends OfAttempt {
  readonly round: number;
  readonly attempt: number;
  /** Fingerprint of everything the persona reads. */
  readonly input: string;
  readonly startedAt: number;
  /** The attempt whose recorded steps this one inherits. */
  readonly continues: number | undefined;
  /** The revision of the phase that it worked for. */
  readonly revision: number;
  /** The phase's files that it saw, by the hash of their manifest; undefined without files. */
  readonly base: string | undefined;
  /** The files that it began with. After its end, the files it left. */
  readonly tree: string | undefined;
  readonly settings: AttemptSettings;
  readonly checks: readonly CheckResult[];
  readonly healing: readonly Healed[];
  /** Changes to protected files, which are not part of `tree`. */
  readonly putBack: PutBack | undefined;
  readonly status: "running" | "completed" | "failed";
  readonly endedAt: number | undefined;
  /** The seq of the row that ended it. */
  readonly endedSeq: number | undefined;
  readonly failure: RecordedFailure | undefined;
  readonly next: AfterFailure | undefined;
}

export interface PersonaState {
  readonly attempts: readonly AttemptState[];
  readonly result: PersonaResult | undefined;
  /** The files seen and left by the attempt that produced the result. */
  readonly base: string | undefined;
  readonly tree: string | undefined;
  readonly checks: readonly CheckResult[];
  /** Fingerprint of the input of its result; undefined for a result from outside. */
  readonly input: string | undefined;
  /** Its result was made before a fork or a reset and is reused. */
  readonly reused: boolean;
  /** An earlier result, reused if the persona reads the same. */
  readonly candidate: PersonaCandidate | undefined;
  /** The last time its work did not fit the work of the others. */
  readonly reopened: Reopened | undefined;
  /** The files and settings of the next attempt, if it does not start clean. */
  readonly beginning: Beginning | undefined;
  /** Rounds up to this one were used before a resume granted new ones. */
  readonly roundsUsedBefore: number;
  /** Steps that the next attempt inherits from one that an outage ended. */
  readonly inheritance: readonly StepSelection[] | undefined;
  /** Paid steps of attempts that were abandoned because their input changed. An equal call gets the record. */
  readonly leftover: readonly StepSelection[];
}

export interface PersonaCandidate {
  readonly input: string | undefined;
  readonly result: PersonaResult | undefined;
  readonly base: string | undefined;
  readonly tree: string | undefined;
  readonly checks: readonly CheckResult[];
  /** Found by fingerprint: an equal call gets the record. */
  readonly steps: readonly StepSelection[];
  /** Its original cost, which is not paid again if its result is reused. */
  readonly spent: readonly PaidAmount[];
}

export interface Beginning {
  /** The base of its changes, if its own view of the phase is outdated. */
  readonly base?: string | undefined;
  readonly tree?: string | undefined;
  /** The work of an earlier revision, merged over the files it sees now. */
  readonly own?: { readonly base: string | undefined; readonly tree: string | undefined };
  readonly settings?: AttemptSettings;
  /** Why reused work did not fit. No attempt here has that reason. */
  readonly reasons?: readonly RecordedFailure[];
}

export interface Reopened {
  /** The seq of the row. */
  readonly at: number;
  readonly group: number;
  /** The merged files of all, into which its next work is merged. */
  readonly merged: string | undefined;
  /** The part of them that it saw. Its next work is merged as changes to these. */
  readonly tree: string | undefined;
  /** Members whose work is merged after its own. */
  readonly unmerged: readonly string[];
}

export interface RunningAttempt extends OfAttempt {
  /** The recorded steps that it replays: its own and inherited ones. */
  readonly replays: readonly StepSelection[];
  /** It began on the files of its input, without files of an earlier attempt. */
  readonly isClean: boolean;
  /** It recorded a step of its work that did not end in an outage. */
  readonly hasProgressed: boolean;
  /** Since when it waits for a dependency, without a step in between. */
  readonly waitsSince?: number | undefined;
  /** Keyed by the fingerprint of a model call: the output limit at which its answer was cut. */
  readonly cuts?: ReadonlyMap<string, number> | undefined;
}

export interface PhaseState {
  readonly status: "pending" | "running" | "completed";
  /** Starts at 1. Each rejection, edit and reset creates another. */
  readonly revision: number;
  readonly personas: ReadonlyMap<string, PersonaState>;
  /** The files that it started with. */
  readonly base: string | undefined;
  /** The merged files after each finished group. */
  readonly groups: ReadonlyMap<number, string | undefined>;
  /** Where earlier phases left different versions, as sentences. */
  readonly clashes: readonly string[];
  /** The files that it left. */
  readonly tree: string | undefined;
  /** A person's changes to them. */
  readonly edit: FilesEdit | undefined;
  readonly gate: GateResult | undefined;
  readonly checks: readonly PersonaChecks[];
  readonly review: "none" | "awaiting" | "approved";
  /** Whether it asked for a review, whatever the answer. */
  readonly awaitedReview: boolean;
  /** Notes of reviewers who rejected it, oldest first. */
  readonly notes: readonly string[];
  readonly source: PhaseSource;
  /** Files given for it from outside, which stay when a persona works on it later. */
  readonly given: GivenFiles | undefined;
  readonly completedAt: number | undefined;
  readonly checkpoint: { readonly revision: number; readonly sha256: string } | undefined;
}

/** The origin of a phase's content. */
export type PhaseSource =
  | { readonly kind: "work" }
  | { readonly kind: "given"; readonly origin: string }
  | { readonly kind: "edited" }
  | { readonly kind: "inherited" };

/** A checkpoint that the journal knows. */
export interface Sealed {
  readonly phase: string;
  readonly revision: number;
  readonly sha256: string;
  /** The last row that the checkpoint covers. */
  readonly head: JournalHead;
  /** Digest of all transition rows up to `head`. */
  readonly transitions: string;
  /** The last row that the previous checkpoint covers. */
  readonly after: number;
  readonly at: number;
}

/**
 * The state of a session. `reduce` derives it from rows, one by one, in a live run and in a replay. It is
 * immutable: each row gives a new state.
 */
export interface SessionState {
  readonly id: SessionId;
  readonly created: SessionCreated;
  /** The original `created`, regardless of later accepted teams. */
  readonly begun: SessionCreated;
  /** The row that created it or separated it as a fork, which `checkpoint_init.json` covers. */
  readonly createdHead: JournalHead & { readonly at: number; readonly transitions: string };
  readonly head: JournalHead;
  /** The end of the rows of earlier drivers. */
  readonly inherited: JournalHead;
  readonly epoch: number;
  readonly standing: Standing;
  /** While it runs: why a person had to act before. The phase at fault may be outside the current direction. */
  readonly stoodFor: { readonly reason: RemainingReason; readonly error: ErrorJson } | undefined;
  /** Fingerprints of the last requests for help. */
  readonly tickets: readonly string[];
  readonly updatedAt: number;
  readonly stepCount: number;
  /** How often a person resumed it. */
  readonly resumes: number;
  /** Consecutive automatic claims after an unclean end, without a new step. */
  readonly recoveries: number;
  /** Its total rest time, so that the remainder of a wait does not depend on the clock alone. */
  readonly restedMs: number;
  /** It was parked for help or failed, and no person has resumed it since: the next resume grants new rounds. */
  readonly awaitsPerson: boolean;
  readonly phases: ReadonlyMap<string, PhaseState>;
  /** Setups of dependencies, by the key of their layer. */
  readonly setups: ReadonlyMap<string, SetupState>;
  /** Every sealed checkpoint, by phase and revision, in the order of their rows. */
  readonly seals: ReadonlyMap<string, Sealed>;
  /** Phases that an accepted team no longer has. One that returns continues as a new revision. */
  readonly removed: ReadonlyMap<string, PhaseState>;
  readonly direction: Direction;
  /** What people told the personas with a resume. */
  readonly notes: readonly PersonNote[];
  readonly decisions: readonly RecordedDecision[];
  /** The last delivery. */
  readonly delivery: Delivered | undefined;
  /** A person accepted another definition since the start. */
  readonly teamChanged: boolean;
  /** The outcome of checks on the repository's initial files, by `checkKey`. */
  readonly baseline: ReadonlyMap<string, BaselineRun>;
  /** Limits set by people, by level and name. */
  readonly budgets: ReadonlyMap<string, BudgetChange>;
  /** The last row of an earlier life, if the rows before it were restored from checkpoints. */
  readonly restoredSeq: number | undefined;
  /** It came from an export. An untrusted one does not run. */
  readonly imported: "untrusted" | "trusted" | undefined;
  /** Signals that the driver has not acted on yet. */
  readonly signals: readonly Signal[];
  /** The last decision of a person with a name, and the name. */
  readonly lastWord: string | undefined;
  /** Effects that must not be repeated silently, by the seq of their intents. */
  readonly effects: Effects;
  /** Calls that wait or waited for a person, by the seq of their rows. */
  readonly calls: Calls;
  /** Running attempts, by the seq of their first row. */
  readonly running: ReadonlyMap<number, RunningAttempt>;
  /**
   * Digest of all transition rows so far. Seals contain it, so that rows before a seal can be verified without
   * steps.
   */
  readonly transitions: string;
}

export interface RecordedDecision extends Decision {
  readonly phase?: string;
  readonly persona?: string;
  readonly at: number;
}

export function emptyState(id: SessionId): SessionState {
  const nowhere = { seq: 0, hash: "", at: 0, transitions: "" };
  const created = {
    kind: "session.created",
    team: "",
    definition: null,
    teamFingerprint: "",
    brief: "",
  } as const;
  return {
    id,
    created,
    begun: created,
    createdHead: nowhere,
    head: nowhere,
    inherited: nowhere,
    epoch: 0,
    standing: { status: "queued" },
    stoodFor: undefined,
    tickets: [],
    updatedAt: 0,
    stepCount: 0,
    resumes: 0,
    recoveries: 0,
    restedMs: 0,
    awaitsPerson: false,
    phases: new Map(),
    setups: new Map(),
    seals: new Map(),
    removed: new Map(),
    direction: {},
    notes: [],
    decisions: [],
    delivery: undefined,
    teamChanged: false,
    baseline: new Map(),
    budgets: new Map(),
    restoredSeq: undefined,
    imported: undefined,
    signals: [],
    lastWord: undefined,
    effects: new Map(),
    calls: new Map(),
    running: new Map(),
    transitions: "",
  };
}

export const emptyPhase: PhaseState = {
  status: "pending",
  revision: 1,
  personas: new Map(),
  base: undefined,
  groups: new Map(),
  clashes: [],
  tree: undefined,
  edit: undefined,
  gate: undefined,
  checks: [],
  review: "none",
  awaitedReview: false,
  notes: [],
  source: { kind: "work" },
  given: undefined,
  completedAt: undefined,
  checkpoint: undefined,
};

export const emptyPersona: PersonaState = {
  attempts: [],
  result: undefined,
  base: undefined,
  tree: undefined,
  checks: [],
  input: undefined,
  reused: false,
  candidate: undefined,
  reopened: undefined,
  beginning: undefined,
  roundsUsedBefore: 0,
  inheritance: undefined,
  leftover: [],
};

/** The phase, or an empty one before its first row. */
export function phaseOf({ phases }: Pick<SessionState, "phases">, name: string): PhaseState {
  return phases.get(name) ?? emptyPhase;
}

/** The persona, or an empty one before its first row. */
export function personaOf(state: Pick<SessionState, "phases">, phase: string, name: string): PersonaState {
  return phaseOf(state, phase).personas.get(name) ?? emptyPersona;
}

/** The running or ended attempt that began with this row. */
export function attemptOf(
  state: SessionState,
  { started, phase, persona }: OfAttempt,
): AttemptState | undefined {
  return personaOf(state, phase, persona).attempts.findLast((attempt) => attempt.started === started);
}

/** True if it is completed and, if a review was requested, approved: later phases may build on it. */
export function isAccepted(phase: PhaseState | undefined): boolean {
  return phase?.status === "completed" && phase.review !== "awaiting";
}

/** Its output came from outside, and no persona of this session worked on it, so earlier changes do not affect it. */
export function isFromOutside(phase: PhaseState | undefined): boolean {
  if (phase?.given === undefined || phase.status !== "completed") return false;
  return [...phase.personas.values()].every(({ input }) => input === undefined);
}

/** A given phase reruns only if a persona without a given result has joined. */
export function staysGiven(
  phase: PhaseState | undefined,
  personas: readonly { readonly name: string }[],
): boolean {
  return (
    isFromOutside(phase) && personas.every(({ name }) => phase?.personas.get(name)?.result !== undefined)
  );
}

/** The persona's result came from outside, and its files are those that the phase begins with. */
export function wasGiven({ given }: PhaseState, { result, input }: PersonaState): boolean {
  return given !== undefined && result !== undefined && input === undefined;
}
