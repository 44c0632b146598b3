import { type Advice, adviceText, advise } from "./advice.ts";
import { type ErrorJson, errorMarker, toErrorJson } from "./error-to-json.ts";

/** Maestro's reaction to the error. */
export type NextAction = "retry" | "next-round" | "wait" | "park" | "fail" | "stop" | "report";

export interface MaestroErrorOptions {
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  /** A sentence, or data if a command is part of it. */
  readonly advice?: string | Advice | readonly Advice[] | undefined;
  readonly cause?: unknown;
}

/** The message says what happened and to what. The advice says what to do. */
export abstract class MaestroError extends Error {
  abstract readonly code: string;
  abstract readonly next: NextAction;
  abstract readonly exitCode: number;
  abstract readonly httpStatus: number;
  readonly details: Readonly<Record<string, unknown>>;
  /** The advice as one text. */
  readonly advice: string | undefined;
  /** The advice as data. Renderers quote the commands for their shell. */
  readonly actions: readonly Advice[];

  constructor(message: string, options: MaestroErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.details = options.details ?? {};
    this.actions = actionsOf(options.advice);
    this.advice = this.actions.length === 0 ? undefined : adviceText(this.actions);
  }

  get [errorMarker](): true {
    return true;
  }

  toJSON(): ErrorJson {
    return toErrorJson(this);
  }

  /**
   * `MaestroError.is(error)` matches any of them, `LeaseHeld.is(error)` one class. Works across copies of the
   * package.
   */
  static is<E extends MaestroError>(this: { readonly prototype: E }, error: unknown): error is E {
    if (typeof error !== "object" || error === null || !(errorMarker in error)) return false;
    const code: string | undefined = this.prototype.code;
    return code === undefined || (error as MaestroError).code === code;
  }
}

function actionsOf(advice: MaestroErrorOptions["advice"]): readonly Advice[] {
  if (advice === undefined) return [];
  if (typeof advice === "string") return [advise(advice)];
  return "text" in advice ? [advice] : advice;
}

type Row = readonly [code: string, next: NextAction, exitCode: number, httpStatus: number];

export const errorTable = {
  RecoverableError: ["RECOVERABLE", "retry", 3, 503],
  UnrecoverableError: ["UNRECOVERABLE", "next-round", 3, 500],
  HelpNeeded: ["HELP_NEEDED", "park", 4, 409],
  BudgetExceeded: ["BUDGET_EXCEEDED", "park", 4, 402],
  CircuitOpen: ["CIRCUIT_OPEN", "wait", 4, 503],
  SetupFailed: ["SETUP_FAILED", "park", 4, 409],
  EffectUnknown: ["EFFECT_UNKNOWN", "park", 4, 409],
  DidNotHappen: ["DID_NOT_HAPPEN", "retry", 3, 503],
  AttemptTimeout: ["ATTEMPT_TIMEOUT", "retry", 3, 504],
  StrayError: ["STRAY_ERROR", "retry", 3, 500],
  PersonaCrashed: ["PERSONA_CRASHED", "retry", 3, 500],
  ContractUnfulfilled: ["CONTRACT_UNFULFILLED", "retry", 3, 422],
  GovernanceViolation: ["GOVERNANCE_VIOLATION", "fail", 3, 403],
  CheckpointCorrupt: ["CHECKPOINT_CORRUPT", "report", 5, 500],
  JournalCorrupt: ["JOURNAL_CORRUPT", "stop", 5, 500],
  ArtifactCorrupt: ["ARTIFACT_CORRUPT", "report", 5, 500],
  StateCorrupt: ["STATE_CORRUPT", "stop", 5, 500],
  StateTooNew: ["STATE_TOO_NEW", "stop", 2, 500],
  StateUnavailable: ["STATE_UNAVAILABLE", "stop", 2, 500],
  StateRemoved: ["STATE_REMOVED", "stop", 5, 503],
  StorageFailed: ["STORAGE_FAILED", "stop", 3, 507],
  LeaseHeld: ["LEASE_HELD", "stop", 3, 409],
  LeaseLost: ["LEASE_LOST", "stop", 3, 409],
  SessionNotFound: ["SESSION_NOT_FOUND", "stop", 2, 404],
  SessionConflict: ["SESSION_CONFLICT", "stop", 2, 409],
  TeamInvalid: ["TEAM_INVALID", "fail", 2, 422],
  TeamChanged: ["TEAM_CHANGED", "fail", 2, 409],
  ConfigInvalid: ["CONFIG_INVALID", "stop", 2, 500],
  SandboxUnavailable: ["SANDBOX_UNAVAILABLE", "stop", 2, 503],
  InputInvalid: ["INPUT_INVALID", "stop", 2, 400],
  NotTrusted: ["NOT_TRUSTED", "stop", 2, 403],
  SessionCanceled: ["SESSION_CANCELED", "stop", 3, 409],
  SessionFailed: ["SESSION_FAILED", "stop", 3, 500],
  Interrupted: ["INTERRUPTED", "stop", 130, 499],
} as const satisfies Readonly<Record<string, Row>>;

export type ErrorName = keyof typeof errorTable;

function errorClass<Name extends ErrorName>(name: Name) {
  const [code, next, exitCode, httpStatus] = errorTable[name];
  // Getters on the prototype, so that a printed error shows its details instead of this table.
  return class extends MaestroError {
    static {
      this.prototype.name = name;
    }
    get code(): (typeof errorTable)[Name][0] {
      return code;
    }
    get next(): NextAction {
      return next;
    }
    get exitCode(): number {
      return exitCode;
    }
    get httpStatus(): number {
      return httpStatus;
    }
  };
}

export class RecoverableError extends errorClass("RecoverableError") {}
/** `details.failures` has the failure of every attempt. */
export class UnrecoverableError extends errorClass("UnrecoverableError") {}
export class HelpNeeded extends errorClass("HelpNeeded") {}
export class BudgetExceeded extends errorClass("BudgetExceeded") {}
export class CircuitOpen extends errorClass("CircuitOpen") {}
/** Dependencies or checks fail on the given files. `details.output` names the output. */
export class SetupFailed extends errorClass("SetupFailed") {}
/** An effect that must not be repeated silently began, and its outcome is unknown. */
export class EffectUnknown extends errorClass("EffectUnknown") {}
/** Thrown by a step with `effect: "once"`: it failed, and its effect certainly did not happen. */
export class DidNotHappen extends errorClass("DidNotHappen") {}
export class AttemptTimeout extends errorClass("AttemptTimeout") {}
/** A persona's code raised an error that nothing handled, which is the cause. */
export class StrayError extends errorClass("StrayError") {}
/** A persona's function ended or exhausted the process it ran in. */
export class PersonaCrashed extends errorClass("PersonaCrashed") {}
/** The work is done but does not fulfill the contract. `details.failures` says why. */
export class ContractUnfulfilled extends errorClass("ContractUnfulfilled") {}
export class GovernanceViolation extends errorClass("GovernanceViolation") {}
export class CheckpointCorrupt extends errorClass("CheckpointCorrupt") {}
export class JournalCorrupt extends errorClass("JournalCorrupt") {}
export class ArtifactCorrupt extends errorClass("ArtifactCorrupt") {}
/** The database file is damaged. */
export class StateCorrupt extends errorClass("StateCorrupt") {}
export class StateTooNew extends errorClass("StateTooNew") {}
/** The state directory cannot be created or written. */
export class StateUnavailable extends errorClass("StateUnavailable") {}
/** The database was deleted, moved or replaced while a process had it open. */
export class StateRemoved extends errorClass("StateRemoved") {}
/** The disk refused a write or a read (ENOSPC, EIO). */
export class StorageFailed extends errorClass("StorageFailed") {}
export class LeaseHeld extends errorClass("LeaseHeld") {}
export class LeaseLost extends errorClass("LeaseLost") {}
export class SessionNotFound extends errorClass("SessionNotFound") {}
/** The same key with another team or brief, or a command that is invalid in this status. */
export class SessionConflict extends errorClass("SessionConflict") {}
export class TeamInvalid extends errorClass("TeamInvalid") {}
export class TeamChanged extends errorClass("TeamChanged") {}
export class ConfigInvalid extends errorClass("ConfigInvalid") {}
/** Checks or commands would run outside a sandbox, and no person has allowed that. */
export class SandboxUnavailable extends errorClass("SandboxUnavailable") {}
export class InputInvalid extends errorClass("InputInvalid") {}
/** An untrusted file requests an action that needs a person's trust. */
export class NotTrusted extends errorClass("NotTrusted") {}
export class SessionCanceled extends errorClass("SessionCanceled") {}
export class SessionFailed extends errorClass("SessionFailed") {}
export class Interrupted extends errorClass("Interrupted") {}
