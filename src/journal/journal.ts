import type { Budget, Money } from "../domain/budget.ts";
import type { BudgetAlert } from "../domain/budget-alert.ts";
import type { CheckResult, GateResult } from "../domain/contract.ts";
import type { ErrorJson } from "../domain/error-json.ts";
import type { Failure } from "../domain/failure.ts";
import type { AttemptSettings, Healed } from "../domain/healing-action.ts";
import type { Json } from "../domain/json.ts";
import type { TreeChange } from "../domain/tree.ts";
import type { EffectKind } from "./durable-step.ts";
import type { Message } from "./message.ts";
import type { SentCall } from "./sent-call.ts";
import type { SessionUsage } from "./session-usage.ts";
import type { Standing } from "./standing.ts";

/**
 * `start`: the first claim, one phase alone, or a resume after a clean end. `resume`: a person asked. `recovery`: automatic,
 * after an unclean end. `message`: only to act on a signal.
 */
export type ClaimCause = "start" | "resume" | "recovery" | "message";

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
  /** The rows before it were restored from checkpoints; their steps are gone. `head`: where the checkpoints end. */
  | { readonly kind: "session.restored"; readonly head: JournalHead }
  /**
   * The rows before it, but for the first, are copies of the parent's. It sets the session apart: `kept` phases stay as
   * they are, the others start again, and `known` ones among them reuse earlier results and steps that have equal input.
   */
  | {
      readonly kind: "session.forked";
      readonly teamFingerprint: string;
      /** The first phase that starts again. */
      readonly from: string;
      readonly kept: readonly string[];
      readonly known: readonly string[];
      readonly edited: readonly PhaseContent[];
      /** What earlier results cost the parent: not paid again if they serve. */
      readonly spent: readonly PersonaSpent[];
    }
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
  /** `tickets`: fingerprints of the requests for help raised with it. */
  | ({ readonly kind: "session.status"; readonly tickets?: readonly string[] } & Standing)
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
  /** Its input equals that of an earlier result, which serves again: not run, not paid. */
  | {
      readonly kind: "persona.reused";
      readonly phase: string;
      readonly persona: string;
      readonly input: string;
    }
  /** A checkpoint covers the rows up to `head`. */
  | {
      readonly kind: "checkpoint.sealed";
      readonly phase: string;
      readonly revision: number;
      readonly sha256: string;
      readonly head: JournalHead;
      /** Digest over all transition rows up to `head`. */
      readonly transitions: string;
      /** Steps recorded up to `head`. */
      readonly steps: number;
      /** Usage of the session by then, as the checkpoint says it. */
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

/** The session a fork was made of, and what was asked for. */
export interface ForkOrigin {
  readonly session: string;
  readonly at: string;
  readonly fresh: boolean;
  readonly edited: readonly PhaseContent[];
}

/** The files of a phase before and after a person changed them. */
export interface FilesEdit {
  readonly base?: string;
  readonly tree?: string;
}

export interface PersonaSpent {
  readonly phase: string;
  readonly persona: string;
  readonly amounts: readonly PaidAmount[];
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
export type StepOutcome = { readonly changes?: readonly TreeChange[]; readonly sent?: SentCall } & StepEnd;

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

/** Where a session's history ends: the last row's number and the chain's hash there. */
export interface JournalHead {
  readonly seq: number;
  readonly hash: string;
}

/** The epoch of rows that no driver of this session wrote: copies of a fork's parent, or restored from checkpoints. */
export const copiedEpoch = -1;

/** A copied row is part of the state, but not news of this session. */
export const isCopied = ({ epoch }: Pick<RecordedRow, "epoch">): boolean => epoch === copiedEpoch;

/** A row as read back. */
export interface RecordedRow {
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
