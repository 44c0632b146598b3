import type { Budget, Money } from "./budget.ts";
import type { BudgetAlert } from "./budget-alert.ts";
import type { CheckResult, GateResult } from "./contract.ts";
import type { EffectKind } from "./durable-step.ts";
import type { ErrorJson } from "./error-json.ts";
import type { Failure } from "./failure.ts";
import type { AttemptSettings, Healed } from "./healing-action.ts";
import type { Json } from "./json.ts";
import type { Message } from "./message.ts";
import type { SessionUsage } from "./session-usage.ts";
import type { TreeChange } from "./tree.ts";
import type { FilesEdit, WordsOfPhase } from "./words-of-phase.ts";

export const sessionStatuses = [
  "queued",
  "running",
  "paused",
  "parked",
  "completed",
  "failed",
  "canceled",
] as const;
export type SessionStatus = (typeof sessionStatuses)[number];
export type ParkReason = "review" | "help" | "budget" | "breaker";
/**
 * `start`: the first claim, one phase alone, or going on after a clean end. `resume`: a person asked. `recovery`: by
 * itself after an unclean end. `message`: only to act on what somebody said.
 */
export type ClaimCause = "start" | "resume" | "recovery" | "message";

/** A session in one of these will never be driven again without a person's word. */
export const finalStatuses: readonly SessionStatus[] = ["completed", "failed", "canceled"];

export interface PersonaResult {
  readonly summary: string;
  readonly outputs: Readonly<Record<string, Json>>;
  readonly decisions?: readonly Decision[];
}

/** A choice with its reason and what was rejected. */
export interface Decision {
  readonly title: string;
  readonly choice: string;
  readonly reason: string;
  readonly rejected: readonly string[];
}

/** How far a person wants the session to go; empty means to the end. */
export interface Direction {
  readonly only?: readonly string[];
  readonly from?: string;
  /** Inclusive. */
  readonly until?: string;
  /** Park for review after these. */
  readonly pauseAfter?: readonly string[];
}

export interface GivenPhase extends PhaseContent {
  readonly origin: string;
}

/** What a phase came to when nobody here worked for it: from outside, or edited by a person. */
export interface PhaseContent {
  readonly phase: string;
  readonly results: Readonly<Record<string, PersonaResult>>;
  /** The files it began with: where branches meet, its changes are those since then. */
  readonly base?: string;
  readonly tree?: string;
  /** What it came to when it was held against the contracts, without commands. */
  readonly gate?: GateResult;
  readonly checks?: readonly PersonaChecks[];
}

/** What came with a phase from outside: the files before and after, and where they came from. */
export interface GivenFiles extends FilesEdit {
  readonly origin: string;
}

/** Everything that can happen to a session, one journal row each. A step's row is shaped for replay, see StepRow. */
export type Transition =
  | {
      readonly kind: "session.created";
      readonly team: string;
      readonly definition: Json;
      readonly teamFingerprint: string;
      readonly teamFile?: string;
      readonly brief: string;
      readonly key?: string;
      readonly model?: string;
      /** The limit it was started with. */
      readonly budget?: Budget;
      /** Phases that came from outside, as if they had run. */
      readonly given?: readonly GivenPhase[];
      /** The session this one is a fork of, and the phase from which on it goes its own way. */
      readonly fork?: ForkOrigin;
      /** How its team was planned; the first driver records each as a row of its own. */
      readonly decisions?: readonly Decision[];
    }
  /** The database was lost; these checkpoints, oldest first, are where the session goes on from. */
  | { readonly kind: "session.restored"; readonly head: JournalHead; readonly checkpoints: readonly Json[] }
  | { readonly kind: "session.claimed"; readonly cause: ClaimCause; readonly owner: string }
  /** How far to go, until a person says otherwise; a crash does not forget it. */
  | ({ readonly kind: "session.directed" } & Direction)
  /**
   * A person accepted another definition, or the session's own was planned for its brief. In the phases named, only
   * personas whose input is the same keep results.
   */
  | {
      readonly kind: "team.changed";
      readonly definition: Json;
      readonly teamFingerprint: string;
      readonly changes: readonly string[];
      /** Phases that are gone through again. */
      readonly reset: readonly string[];
      /** How it was planned. */
      readonly decisions?: readonly Decision[];
    }
  | ({
      readonly kind: "decision.recorded";
      readonly phase?: string;
      readonly persona?: string;
    } & Decision)
  | {
      readonly kind: "session.status";
      readonly status: SessionStatus;
      readonly reason?: ParkReason;
      readonly error?: ErrorJson;
      /** When a session that waits for a breaker may be taken up again by itself. */
      readonly wakeAt?: number;
      /** Fingerprint of the request for help that was raised with it. */
      readonly ticket?: string;
      /** Of all of them, when several personas need help. */
      readonly tickets?: readonly string[];
    }
  | { readonly kind: "message.received"; readonly message: Message; readonly sentAt: number }
  | {
      readonly kind: "phase.started";
      readonly phase: string;
      /** What earlier phases left, if anything. */
      readonly tree?: string;
      /** Where they left different versions, in words. */
      readonly clashes?: readonly string[];
    }
  /** The members of a group are done, and their trees are one. */
  | {
      readonly kind: "group.merged";
      readonly phase: string;
      readonly group: number;
      readonly tree?: string;
    }
  | {
      readonly kind: "phase.completed";
      readonly phase: string;
      readonly tree?: string;
      readonly gate?: GateResult;
      readonly checks?: readonly PersonaChecks[];
      /** What a person had changed in it before it was gone through again, and is there again. */
      readonly edit?: FilesEdit;
      /** A person has to look before anything rests on it. */
      readonly awaitsReview?: true;
    }
  /** A person put something else in its place: a new revision. */
  | ({ readonly kind: "phase.edited" } & PhaseContent)
  /** Taken over from the session that this one is a fork of. */
  | ({
      readonly kind: "phase.inherited";
      readonly revision: number;
      readonly personas: Readonly<Record<string, PersonaFiles>>;
      readonly edit?: FilesEdit;
      /** What reviewers said when they sent it back there. */
      readonly notes?: readonly string[];
      /** Where it came from, if it was given to the forked session from outside. */
      readonly origin?: string;
      /** What was given of it, if people have worked on it since. */
      readonly given?: GivenFiles;
    } & PhaseContent)
  /**
   * What the forked session knows of a persona, and the owner of its steps here: taken over if its input is the same.
   * Without a result: it was under way there, or its phase is taken over as a whole. A result without input came from
   * outside, and counts whatever comes before it.
   */
  | {
      readonly kind: "persona.inherited";
      readonly phase: string;
      readonly persona: string;
      readonly input?: string;
      readonly result?: PersonaResult;
      readonly base?: string;
      readonly tree?: string;
      readonly checks?: readonly CheckResult[];
      /** What it cost there: not paid again if its result is taken over. */
      readonly spent?: readonly PaidAmount[];
      /** What reviewers said about its phase there: part of what it read. */
      readonly notes?: readonly string[];
      /** What people changed in the files of its phase there: laid over whatever the phase comes to here. */
      readonly edit?: FilesEdit;
      /** What its phase was given there: it begins with that here too. */
      readonly given?: GivenFiles;
    }
  /** Everything a fork may use is its own now. */
  | { readonly kind: "fork.copied" }
  /** Its input is what it was in the forked session: not run, not paid. */
  | {
      readonly kind: "persona.reused";
      readonly phase: string;
      readonly persona: string;
      readonly input: string;
    }
  | {
      readonly kind: "checkpoint.sealed";
      readonly phase: string;
      readonly revision: number;
      readonly sha256: string;
      /** What the session had used by then, as the checkpoint says it. */
      readonly usage?: readonly SessionUsage[];
    }
  | {
      readonly kind: "attempt.started";
      readonly phase: string;
      readonly persona: string;
      readonly round: number;
      readonly attempt: number;
      /** Fingerprint of everything the persona reads; part of each of its steps' fingerprints. */
      readonly input: string;
      /** The attempt whose recorded steps this one goes on from: it failed from an outage, not from its work. */
      readonly continues?: number;
      /** The files it sees of the phase: what its changes are merged against. */
      readonly base?: string;
      /** The files it begins with, when they are not `base`: those of the attempt before. */
      readonly tree?: string;
      /** What healing changed about the way it works. */
      readonly settings?: AttemptSettings;
    }
  | ({
      readonly kind: "attempt.completed";
      readonly result: PersonaResult;
      readonly tree?: string;
      readonly checks?: readonly CheckResult[];
      /** The healer whose action made the contract pass. */
      readonly healed?: Healed;
      /** Everything that healers tried on the way. */
      readonly healing?: readonly Healed[];
    } & OfAttempt)
  | ({
      readonly kind: "attempt.failed";
      readonly failure: RecordedFailure;
      /** The seq of the step whose failure ended the attempt; whoever goes on runs that one again. */
      readonly failedStep?: number;
      /** The files it left, for the attempt that starts on them. */
      readonly tree?: string;
      readonly checks?: readonly CheckResult[];
      /** What healers tried. */
      readonly healing?: readonly Healed[];
      /** How the next attempt works. */
      readonly settings?: AttemptSettings;
      /** Decided once and recorded: another attempt, another round, or a person has to look. */
      readonly next: AfterFailure;
    } & OfAttempt)
  /** Its work was good alone and is not together with that of others: it gets another, counted attempt. */
  | ({
      readonly kind: "attempt.reopened";
      readonly failure: RecordedFailure;
      readonly next: AfterFailure;
      /** The group that found it. */
      readonly group: number;
      /** The files of all, its own among them: what it makes of them next is merged into these. */
      readonly merged?: string;
      /** What it sees of them, to work on. */
      readonly tree?: string;
      /** The same without its own work: what all its changes, of all its attempts, are changes of. */
      readonly base?: string;
      /** Members of the group, in order, whose work is not in `merged` yet: it is merged when that of this one is. */
      readonly unmerged?: readonly string[];
    } & OfAttempt)
  /** A dependency's breaker is open; the attempt waits and is not used up. */
  | ({ readonly kind: "dependency.waiting"; readonly dependency: string; readonly until: number } & OfAttempt)
  /** Committed with the memory that it was raised: said once, and on record. */
  | { readonly kind: "budget.alerted"; readonly alert: BudgetAlert }
  /** A recorded step's input differs now: steps outside `kept` (ranges of seq) are not used again. */
  | ({
      readonly kind: "attempt.diverged";
      readonly step: string;
      readonly recorded: string;
      readonly now: string;
      readonly kept: readonly (readonly [number, number])[];
    } & OfAttempt);

/** `started`: the seq of the attempt's first row, its identity. */
export interface OfAttempt {
  readonly started: number;
  readonly phase: string;
  readonly persona: string;
}

export interface ForkOrigin {
  readonly session: string;
  readonly at: string;
  readonly fresh: boolean;
  /** What a person put in the place of what the session had. */
  readonly edited: readonly PhaseContent[];
  /** Phases of which it has what was given to the session from outside. */
  readonly given?: readonly string[];
  /** About phases that it goes through again: not in rows alone, which a lost database takes along. */
  readonly words?: readonly WordsOfPhase[];
}

export interface PaidAmount {
  readonly model: string;
  readonly tokens: number;
  readonly microUsd: Money | null;
}

/** The files a persona saw and those it left, and the fingerprint of all it read. */
export interface PersonaFiles {
  readonly base?: string;
  readonly tree?: string;
  readonly input?: string;
}

/** What one persona's contract came to on the merged tree. */
export interface PersonaChecks {
  readonly persona: string;
  readonly results: readonly CheckResult[];
}

/** A failure as it was classified when it was fresh, with the error itself. */
export interface RecordedFailure extends Failure {
  readonly error: ErrorJson;
}

export type AfterFailure =
  /** `continues`: the next attempt inherits the steps of this one and repeats only the failed call. */
  | { readonly kind: "attempt" | "round"; readonly wait: Wait; readonly continues: boolean }
  /** Every round is used up, or none could help. `continues`: so does the attempt that a person's resume grants. */
  | { readonly kind: "help"; readonly continues?: true }
  /** The error is not one that trying again could mend. */
  | { readonly kind: "stop" };

/** A wait on disk: until `notBefore`, and never longer than `waitMs` whatever the clock does. */
export interface Wait {
  readonly notBefore: number;
  readonly waitMs: number;
}

export type StepKind = "function" | "wait" | EffectKind;

/** What a step's row says: a result (none for undefined), a large result by its hash, a failure, or a wait. */
export type StepOutcome = { readonly changes?: readonly TreeChange[] } & StepEnd;

type StepEnd =
  | { readonly result: Json }
  | { readonly artifact: string }
  /** `failure`: as it was judged when it was fresh; what was thrown and is no error says nothing more than its text. */
  | { readonly error: ErrorJson; readonly failure?: Failure }
  /** `because`: the outage after which its call is repeated. */
  | { readonly wait: Wait; readonly because?: string }
  | { readonly result?: never };

/** A step's identity is (attempt, kind, fingerprint, occurrence); its name is for people and for noticing divergence. */
export interface StepRow {
  readonly kind: `step.${StepKind}`;
  readonly attempt: number;
  readonly name: string;
  readonly fingerprint: string;
  readonly occurrence: number;
  /** JSON text of a StepOutcome; parsed only when the step is replayed. */
  readonly body: string;
}

export type Entry = Transition | StepRow;

export function isStepRow(entry: Entry): entry is StepRow {
  return entry.kind.startsWith("step.");
}

/** Where a session's history ends: the last row's number and the chain's hash there. */
export interface JournalHead {
  readonly seq: number;
  readonly hash: string;
}

/** A row as read back. `position` is where the store finds its body again. */
export interface RecordedRow {
  readonly position: number;
  readonly seq: number;
  readonly epoch: number;
  readonly at: number;
  readonly kind: string;
  readonly attempt: number | null;
  readonly occurrence: number | null;
  readonly fingerprint: string | null;
  readonly name: string | null;
  readonly body: string;
  readonly hash: string;
}
