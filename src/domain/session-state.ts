import type { BudgetChange } from "./budget.ts";
import type { CheckResult, GateResult } from "./contract.ts";
import type { ErrorJson } from "./error-json.ts";
import type { AttemptSettings, Healed } from "./healing-action.ts";
import type { SessionId } from "./ids.ts";
import type {
  AfterFailure,
  Decision,
  Direction,
  GivenFiles,
  JournalHead,
  OfAttempt,
  ParkReason,
  PersonaChecks,
  PersonaResult,
  RecordedFailure,
  SessionStatus,
  Transition,
} from "./journal.ts";
import type { Json } from "./json.ts";
import type { Message } from "./message.ts";
import type { RecordedSteps } from "./recorded-steps.ts";
import type { SessionUsage } from "./session-usage.ts";
import type { FilesEdit } from "./words-of-phase.ts";

export interface AttemptState extends OfAttempt {
  readonly round: number;
  readonly attempt: number;
  readonly input: string;
  readonly startedAt: number;
  /** The attempt whose recorded steps it goes on from. */
  readonly continues: number | undefined;
  /** Which revision of the phase it worked for. */
  readonly revision: number;
  /** The files it saw of the phase, by the hash of their manifest; none if there were no files. */
  readonly base: string | undefined;
  /** The files it began with, and in the end those it left. */
  tree: string | undefined;
  readonly settings: AttemptSettings;
  checks: readonly CheckResult[];
  healing: readonly Healed[];
  status: "running" | "completed" | "failed";
  /** It recorded a step that no outage ended, and so came further than the attempt that it continues, if it does. */
  hasProgressed: boolean;
  endedAt: number | undefined;
  failure: RecordedFailure | undefined;
  next: AfterFailure | undefined;
}

export interface PersonaState {
  readonly attempts: AttemptState[];
  result: PersonaResult | undefined;
  /** The files it saw and those it left, of the attempt that gave the result. */
  base: string | undefined;
  tree: string | undefined;
  checks: readonly CheckResult[];
  /** Fingerprint of what it read for its result. */
  input: string | undefined;
  /** Its result is that of the forked session. */
  reused: boolean;
  /** What the forked session knows of it. */
  candidate: PersonaCandidate | undefined;
  /** When its work last turned out not to fit that of the others. */
  reopened: Reopened | undefined;
  /** What the next attempt begins with instead of a clean start. */
  beginning: Beginning | undefined;
  /** Rounds up to this one were used up before a person's resume granted new ones. */
  roundsUsedBefore: number;
  /** What the next attempt inherits from one that an outage ended. */
  inheritance: RecordedSteps | undefined;
  /** Of attempts that nobody goes on with, because they read something else: whoever asks for the same gets the record. */
  leftover: RecordedSteps | undefined;
}

export type PersonaCandidate = Omit<Extract<Transition, { kind: "persona.inherited" }>, "kind"> & {
  /** The steps of the forked session, found by fingerprint: whoever asks for the same again gets the record. */
  readonly steps: RecordedSteps;
};

export interface Beginning {
  /** What its changes are changes of, when its own view of the phase is outdated. */
  readonly base?: string | undefined;
  readonly tree?: string | undefined;
  /** The work of an earlier revision: laid over what it sees now. */
  readonly own?: { readonly base: string | undefined; readonly tree: string | undefined };
  readonly settings?: AttemptSettings;
  /** Why work that was taken over did not fit: no attempt of its own carries it. */
  readonly reasons?: readonly RecordedFailure[];
}

export interface Reopened {
  /** Number of the row. */
  readonly at: number;
  readonly group: number;
  /** The files of all, which its next work is merged into. */
  readonly merged: string | undefined;
  /** What it saw of them: its next work is merged as changes of these. */
  readonly tree: string | undefined;
  /** Whose work comes after its own. */
  readonly unmerged: readonly string[];
}

export interface RunningAttempt {
  readonly persona: PersonaState;
  readonly attempt: AttemptState;
  /** What is recorded of it; replayed by whoever goes on with it. */
  readonly steps: RecordedSteps;
  /** It began on the files of its input, not on what an attempt before it or others left. */
  readonly isClean: boolean;
}

export interface PhaseState {
  status: "pending" | "running" | "completed";
  /** 1 at first; every rejection and every edit makes another. */
  revision: number;
  readonly personas: Map<string, PersonaState>;
  /** The files it started with. */
  base: string | undefined;
  /** The merged files after each group that is done. */
  readonly groups: Map<number, string | undefined>;
  /** Where the phases before it left different versions, in words. */
  clashes: readonly string[];
  /** The files it left. */
  tree: string | undefined;
  /** What a person changed in them. */
  edit: FilesEdit | undefined;
  gate: GateResult | undefined;
  checks: readonly PersonaChecks[];
  review: "none" | "awaiting" | "approved";
  /** Whether a person had to look at it, whatever became of that. */
  awaitedReview: boolean;
  /** What reviewers said when they sent it back, oldest first. */
  notes: string[];
  /** Where it came from, if not from work in this session. */
  source: PhaseSource;
  /** What was brought from outside for it; stays when somebody works on it later. */
  given: GivenFiles | undefined;
  completed: Completed | undefined;
  checkpoint: { readonly revision: number; readonly sha256: string } | undefined;
  /** What the session had used when the checkpoint was sealed. */
  usage: readonly SessionUsage[];
}

/** When a phase was done, and by which team: its checkpoint says the same whenever it is projected. */
export interface Completed extends JournalHead {
  readonly at: number;
  readonly teamFingerprint: string;
  /** Only when it was no longer the one the session began with. */
  readonly definition?: Json;
  /** The limits that people had set by then. */
  readonly budgets?: Readonly<Record<string, BudgetChange>>;
  readonly revisions?: PhaseRevisions;
}

/** At which revision each phase was, where it was not the first: checkpoints of earlier ones no longer counted. */
export type PhaseRevisions = Readonly<Record<string, number>>;

/** A checkpoint that the journal knows, and the row it knows it from. */
export interface Sealed {
  readonly phase: string;
  readonly revision: number;
  readonly sha256: string;
  readonly seq: number;
  readonly at: number;
}

export type PhaseSource =
  | { readonly kind: "work" }
  | { readonly kind: "given"; readonly origin: string }
  | { readonly kind: "edited" }
  | { readonly kind: "inherited" };

/** What a session's journal says, folded row by row; the same code for a live run and for a replay. */
export interface SessionState {
  readonly id: SessionId;
  created: Extract<Transition, { kind: "session.created" }>;
  /** The same as it was at first, whatever team was accepted since: what `checkpoint_init.json` says. */
  begun: Extract<Transition, { kind: "session.created" }>;
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
  /** While it is driven: why a person had to act before. The phase at fault may not be among those that are driven. */
  stoodFor: { readonly reason: "help" | "budget"; readonly error?: ErrorJson } | undefined;
  /** Fingerprint of the last request for help. */
  tickets: readonly string[];
  /** When a session that waits for a breaker goes on by itself. */
  wakeAt: number | undefined;
  updatedAt: number;
  stepCount: number;
  /** Automatic claims after an unclean end, in a row, without a new step. */
  recoveries: number;
  /** It was reported as parked or failed and nobody has resumed it since: the next resume grants new rounds. */
  awaitsPerson: boolean;
  readonly phases: Map<string, PhaseState>;
  /** As they were when a phase was last done: one object as long as nothing changes. */
  revisions: PhaseRevisions;
  /** Every checkpoint but the first, by the name of its phase and its revision; also those of earlier revisions. */
  readonly seals: Map<string, Sealed>;
  /** Phases that an accepted team no longer has: one that is put back is a new revision of what it was. */
  readonly removed: Map<string, PhaseState>;
  /** How far a person wants it to go. */
  direction: Direction;
  readonly decisions: RecordedDecision[];
  /** A person has accepted another definition since the start. */
  teamChanged: boolean;
  /** Limits a person has set since the start, by level and name. */
  readonly budgets: Map<string, BudgetChange>;
  /** A fork is driven only when everything it may use is its own. */
  copied: boolean;
  /** Where its history goes on, when the rows before are gone. */
  restoredSeq: number | undefined;
  /** What people said and nobody has acted on yet. */
  messages: Message[];
  /** Attempts under way, by identity. */
  readonly running: Map<number, RunningAttempt>;
  /** Steps that a fork brought with it, by the row of the persona they are of. */
  readonly inheritedSteps: Map<number, RecordedSteps>;
}

export interface RecordedDecision extends Decision {
  readonly phase?: string;
  readonly persona?: string;
  readonly at: number;
}

export function emptyState(id: SessionId): SessionState {
  const nowhere = { seq: 0, hash: "", at: 0 };
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
    initSha256: undefined,
    head: nowhere,
    inherited: nowhere,
    epoch: 0,
    status: "queued",
    reason: undefined,
    error: undefined,
    stoodFor: undefined,
    tickets: [],
    wakeAt: undefined,
    updatedAt: 0,
    stepCount: 0,
    recoveries: 0,
    awaitsPerson: false,
    phases: new Map(),
    revisions: {},
    seals: new Map(),
    removed: new Map(),
    direction: {},
    decisions: [],
    teamChanged: false,
    budgets: new Map(),
    copied: false,
    restoredSeq: undefined,
    messages: [],
    running: new Map(),
    inheritedSteps: new Map(),
  };
}

export function phaseOf(state: SessionState, name: string): PhaseState {
  let phase = state.phases.get(name);
  if (phase === undefined) {
    phase = {
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
      completed: undefined,
      checkpoint: undefined,
      usage: [],
    };
    state.phases.set(name, phase);
  }
  return phase;
}

export function personaOf(state: SessionState, phase: string, name: string): PersonaState {
  const { personas } = phaseOf(state, phase);
  let persona = personas.get(name);
  if (persona === undefined) {
    persona = {
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
      leftover: undefined,
    };
    personas.set(name, persona);
  }
  return persona;
}

/** Done, and nobody has to look at it first: what comes after may rest on it. */
export function isAccepted(phase: PhaseState | undefined): boolean {
  return phase?.status === "completed" && phase.review !== "awaiting";
}
