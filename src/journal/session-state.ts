import type { BudgetChange } from "../domain/budget.ts";
import type { CheckResult, GateResult } from "../domain/contract.ts";
import type { ErrorJson } from "../domain/error-json.ts";
import type { AttemptSettings, Healed } from "../domain/healing-action.ts";
import type { SessionId } from "../domain/ids.ts";
import type { PutBack } from "../domain/put-back.ts";
import type { Delivered } from "./delivered.ts";
import type { Effects } from "./effect.ts";
import type { BaselineRun, PersonaChecks } from "./judgment-values.ts";
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
  /** The revision of the phase it worked for. */
  readonly revision: number;
  /** The files it saw of the phase, by the hash of their manifest; undefined without files. */
  readonly base: string | undefined;
  /** The files it began with; at its end, the files it left. */
  readonly tree: string | undefined;
  readonly settings: AttemptSettings;
  readonly checks: readonly CheckResult[];
  readonly healing: readonly Healed[];
  /** Changes of protected files, which are not part of `tree`. */
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
  /** The files it saw and the files it left, of the attempt that gave the result. */
  readonly base: string | undefined;
  readonly tree: string | undefined;
  readonly checks: readonly CheckResult[];
  /** Fingerprint of what it read for its result; undefined for a result from outside. */
  readonly input: string | undefined;
  /** Its result was made before a fork or a reset and serves again. */
  readonly reused: boolean;
  /** An earlier result, which serves again if the persona reads the same. */
  readonly candidate: PersonaCandidate | undefined;
  /** The last time its work did not fit the work of the others. */
  readonly reopened: Reopened | undefined;
  /** The files and settings of the next attempt, when it does not start clean. */
  readonly beginning: Beginning | undefined;
  /** Rounds up to this one were used up before a resume granted new ones. */
  readonly roundsUsedBefore: number;
  /** Steps that the next attempt inherits from one that an outage ended. */
  readonly inheritance: readonly StepSelection[] | undefined;
  /** Paid steps of attempts that were given up because their input changed. An equal call gets the record. */
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
  /** Its cost where it was made: not paid again if its result serves. */
  readonly spent: readonly PaidAmount[];
}

export interface Beginning {
  /** The base of its changes, when its own view of the phase is outdated. */
  readonly base?: string | undefined;
  readonly tree?: string | undefined;
  /** The work of an earlier revision, merged over what it sees now. */
  readonly own?: { readonly base: string | undefined; readonly tree: string | undefined };
  readonly settings?: AttemptSettings;
  /** Why reused work did not fit. No attempt here carries that reason. */
  readonly reasons?: readonly RecordedFailure[];
}

export interface Reopened {
  /** The seq of the row. */
  readonly at: number;
  readonly group: number;
  /** The files of all, which its next work is merged into. */
  readonly merged: string | undefined;
  /** The part of them that it saw: its next work is merged as changes of these. */
  readonly tree: string | undefined;
  /** Members whose work is merged after its own. */
  readonly unmerged: readonly string[];
}

export interface RunningAttempt extends OfAttempt {
  /** The recorded steps that it replays: its own, and those it inherited. */
  readonly replays: readonly StepSelection[];
  /** It began on the files of its input, not on files that an earlier attempt left. */
  readonly isClean: boolean;
  /** It recorded a step of its work that did not end in an outage. */
  readonly hasProgressed: boolean;
  /** Since when it waits for a dependency, without a step in between. */
  readonly waitsSince?: number | undefined;
  /** By fingerprint of a model call: the output that the budgets left, at which its answer was cut. */
  readonly cuts?: ReadonlyMap<string, number> | undefined;
}

export interface PhaseState {
  readonly status: "pending" | "running" | "completed";
  /** 1 at first; each rejection, edit and reset makes another. */
  readonly revision: number;
  readonly personas: ReadonlyMap<string, PersonaState>;
  /** The files it started with. */
  readonly base: string | undefined;
  /** The merged files after each finished group. */
  readonly groups: ReadonlyMap<number, string | undefined>;
  /** Where the phases before it left different versions, as sentences. */
  readonly clashes: readonly string[];
  /** The files it left. */
  readonly tree: string | undefined;
  /** A person's changes to them. */
  readonly edit: FilesEdit | undefined;
  readonly gate: GateResult | undefined;
  readonly checks: readonly PersonaChecks[];
  readonly review: "none" | "awaiting" | "approved";
  /** Whether it asked for a review, whatever the answer was. */
  readonly awaitedReview: boolean;
  /** Notes of reviewers who rejected it, oldest first. */
  readonly notes: readonly string[];
  readonly source: PhaseSource;
  /** Files given for it from outside; they stay when a persona works on it later. */
  readonly given: GivenFiles | undefined;
  readonly completedAt: number | undefined;
  readonly checkpoint: { readonly revision: number; readonly sha256: string } | undefined;
}

/** Where the content of a phase comes from. */
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
  /** Digest over all transition rows up to `head`. */
  readonly transitions: string;
  /** The last row that the checkpoint before it covers. */
  readonly after: number;
  readonly at: number;
}

/**
 * The state of a session. `reduce` makes it from rows, one by one, in a live run as in a replay. It never changes:
 * a new row gives a new state.
 */
export interface SessionState {
  readonly id: SessionId;
  readonly created: SessionCreated;
  /** `created` as it was at first, whatever team was accepted since. */
  readonly begun: SessionCreated;
  /** The row that created it, or that set it apart as a fork: what `checkpoint_init.json` covers. */
  readonly createdHead: JournalHead & { readonly at: number; readonly transitions: string };
  readonly head: JournalHead;
  /** Where the rows of earlier drivers end. */
  readonly inherited: JournalHead;
  readonly epoch: number;
  readonly standing: Standing;
  /** While it runs: why a person had to act before. The phase at fault may be outside the present direction. */
  readonly stoodFor: { readonly reason: RemainingReason; readonly error: ErrorJson } | undefined;
  /** Fingerprints of the last requests for help. */
  readonly tickets: readonly string[];
  readonly updatedAt: number;
  readonly stepCount: number;
  /** How often a person resumed it. */
  readonly resumes: number;
  /** Automatic claims after an unclean end, in a row, without a new step. */
  readonly recoveries: number;
  /** How long it has rested in all: the rest of a wait does not depend on the clock alone. */
  readonly restedMs: number;
  /** It was parked for help or failed, and no person resumed it since: the next resume grants new rounds. */
  readonly awaitsPerson: boolean;
  readonly phases: ReadonlyMap<string, PhaseState>;
  /** Setups of dependencies, by the key of their layer. */
  readonly setups: ReadonlyMap<string, SetupState>;
  /** Every sealed checkpoint, by phase and revision, in the order of their rows. */
  readonly seals: ReadonlyMap<string, Sealed>;
  /** Phases that an accepted team no longer has. One that is put back continues as a new revision. */
  readonly removed: ReadonlyMap<string, PhaseState>;
  readonly direction: Direction;
  readonly decisions: readonly RecordedDecision[];
  /** What was delivered last. */
  readonly delivery: Delivered | undefined;
  /** A person accepted another definition since the start. */
  readonly teamChanged: boolean;
  /** How checks ended on the files of its repository, by `checkKey`, before anything was done. */
  readonly baseline: ReadonlyMap<string, BaselineRun>;
  /** Limits a person has set, by level and name. */
  readonly budgets: ReadonlyMap<string, BudgetChange>;
  /** The last row of an earlier life, when the rows before it were restored from checkpoints. */
  readonly restoredSeq: number | undefined;
  /** It came from an export. An untrusted one does not run. */
  readonly imported: "untrusted" | "trusted" | undefined;
  /** Signals that the driver has not acted on yet. */
  readonly signals: readonly Signal[];
  /** Effects that must not be repeated in silence, by the seq of their intents. */
  readonly effects: Effects;
  /** Calls that wait or waited for a person, by the seq of their rows. */
  readonly calls: Calls;
  /** Attempts under way, by the seq of their first row. */
  readonly running: ReadonlyMap<number, RunningAttempt>;
  /** Digest over all transition rows so far. Seals carry it, so that rows before a seal can be verified without steps. */
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
    decisions: [],
    delivery: undefined,
    teamChanged: false,
    baseline: new Map(),
    budgets: new Map(),
    restoredSeq: undefined,
    imported: undefined,
    signals: [],
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

/** The attempt under way or ended that began with this row. */
export function attemptOf(
  state: SessionState,
  { started, phase, persona }: OfAttempt,
): AttemptState | undefined {
  return personaOf(state, phase, persona).attempts.findLast((attempt) => attempt.started === started);
}

/** Completed and, where a review was asked for, approved: later phases may build on it. */
export function isAccepted(phase: PhaseState | undefined): boolean {
  return phase?.status === "completed" && phase.review !== "awaiting";
}

/** Its output came from outside, and no persona of this session worked on it: changes before it do not affect it. */
export function isFromOutside(phase: PhaseState | undefined): boolean {
  if (phase?.given === undefined || phase.status !== "completed") return false;
  return [...phase.personas.values()].every(({ input }) => input === undefined);
}

/** No persona here can make it again. It runs only if a persona joined since that was given no result. */
export function staysGiven(
  phase: PhaseState | undefined,
  personas: readonly { readonly name: string }[],
): boolean {
  return (
    isFromOutside(phase) && personas.every(({ name }) => phase?.personas.get(name)?.result !== undefined)
  );
}

/** The persona's result came from outside: its files are those that the phase begins with. */
export function wasGiven({ given }: PhaseState, { result, input }: PersonaState): boolean {
  return given !== undefined && result !== undefined && input === undefined;
}
