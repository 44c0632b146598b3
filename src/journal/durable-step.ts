import type { Json, JsonObject } from "../domain/json.ts";
import type { SavedAmount } from "../domain/ledger.ts";
import type { Spend } from "../domain/usage.ts";
import type { ProcessIdentity } from "./process-identity.ts";
import type { WaitingKind, Word } from "./waiting-call.ts";

/** Kinds of steps, besides functions of the team's author. */
export type EffectKind = "model" | "tool" | "check" | "command" | "heal";

/** One named effect. It runs once, its outcome is recorded, and a replay gets the record. */
export interface DurableStep<T> {
  readonly kind: EffectKind;
  /** For people, and for detecting that a run has diverged. */
  readonly name: string;
  /** Everything that the result depends on. Its fingerprint finds the record again. */
  readonly input: Json;
  /** The service that it calls. While that service's breaker is open, the step waits. */
  readonly dependency?: string;
  /** Reserved before the call and settled together with the record. */
  readonly spend?: Spend<T>;
  /** The amount that its result saved compared with another way to get it. */
  readonly saved?: (result: T) => SavedBy | undefined;
  /** Hashes of blobs that the result names, which are kept as long as its record. */
  readonly artifacts?: (result: T) => readonly string[];
  /**
   * True for a result that needs no record because nothing was done. Only for steps that call no service and cost
   * nothing.
   */
  readonly isNothing?: (result: T) => boolean;
  /** Of the last run of the effect, for the record. */
  readonly timing?: () => CallTiming;
  /** Set if the effect must not be repeated silently. Default: it may be repeated. */
  readonly once?: Once<T> | undefined;
  /** Set if a person must decide before it begins. */
  readonly asks?: Asks<T> | undefined;
  /** `allowedOutput`: set if the budgets leave less than the maximum output of `spend`. */
  readonly effect: (allowedOutput?: number) => T | Promise<T>;
}

/** `firstMs`: until the first token; null for an answer that came as a whole. */
export interface CallTiming {
  readonly ms: number;
  readonly firstMs: number | null;
}

/** A call that waits for a person. Meanwhile nothing is reserved, no breaker is asked and no intent is recorded. */
export interface Asks<T> {
  readonly kind: WaitingKind;
  /** The call as shown to people. */
  readonly call: JsonObject;
  /** Called with the person's decision before the effect. Returns the changes to the step. */
  readonly decide: (word: Word) => Promise<{
    readonly dependency?: string | undefined;
    readonly once?: Once<T> | undefined;
  }>;
}

/** An effect that must not be repeated silently. */
export interface Once<T> {
  /** Asks the outside world for the outcome, if a crash or an error left none. */
  readonly probe?: (() => Probed<T> | Promise<Probed<T>>) | undefined;
  /** The call, as shown to people who have to settle it. */
  readonly call?: Json | undefined;
  /** The step's result if a person says that it happened. Default: the given value. `made`: the call of its intent. */
  readonly resultOf?: ((given: Json | undefined, made: Json | undefined) => unknown) | undefined;
  /** Other processes that run the effect. */
  readonly processes?: (() => readonly ProcessIdentity[]) | undefined;
}

/** Undefined: the outcome cannot be determined. */
export type Probed<T> =
  | { readonly happened: true; readonly result?: T }
  | { readonly happened: false }
  | undefined;

/** The recorder adds phase and persona. */
export type SavedBy = Omit<SavedAmount, "phase" | "persona">;

/** How models, tools and checks record their effects. The executor of an attempt implements it. */
export type RunStep = <T>(step: DurableStep<T>) => Promise<T>;

/** Error code of an answer that was cut at the output its budgets left. The call is repeated with more room. */
export const answerCut = "ANSWER_CUT";

/** Error code of a call that its caller abandoned. It says nothing about the service. */
export const callAbandoned = "CALL_ABANDONED";
