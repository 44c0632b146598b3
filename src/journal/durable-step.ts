import type { Json, JsonObject } from "../domain/json.ts";
import type { SavedAmount } from "../domain/ledger.ts";
import type { Spend } from "../domain/usage.ts";
import type { ProcessIdentity } from "./process-identity.ts";
import type { WaitingKind, Word } from "./waiting-call.ts";

/** Kinds of steps, besides functions of the team's author. */
export type EffectKind = "model" | "tool" | "check" | "command" | "heal";

/** One named effect: runs once, its outcome is recorded, and a replay gets the record. */
export interface DurableStep<T> {
  readonly kind: EffectKind;
  /** For people, and for noticing that a run has diverged. */
  readonly name: string;
  /** Everything the result depends on: it is found again by the fingerprint of this. */
  readonly input: Json;
  /** The service it calls; while that one's breaker is open, the step waits. */
  readonly dependency?: string;
  /** Reserved before the call, settled together with the record. */
  readonly spend?: Spend<T>;
  /** The amount that its result saved against another way to get there. */
  readonly saved?: (result: T) => SavedBy | undefined;
  /** Hashes of blobs that the result names: they are kept as long as its record. */
  readonly artifacts?: (result: T) => readonly string[];
  /** A result that is not worth a record: nothing was done. Only for steps that call no service and cost nothing. */
  readonly isNothing?: (result: T) => boolean;
  /** Its effect must not be repeated in silence. Absent: it may be repeated. */
  readonly once?: Once<T> | undefined;
  /** A person's word decides about it before it begins. */
  readonly asks?: Asks<T> | undefined;
  /** `allowedOutput`: set when the budgets leave less than the most output of `spend`. */
  readonly effect: (allowedOutput?: number) => T | Promise<T>;
}

/** A call that waits for a person. While it waits nothing is reserved, no breaker is asked and no intent recorded. */
export interface Asks<T> {
  readonly kind: WaitingKind;
  /** As people see it. */
  readonly call: JsonObject;
  /** Called with the person's word, before the effect; gives what changes of the step. */
  readonly decide: (word: Word) => Promise<{
    readonly dependency?: string | undefined;
    readonly once?: Once<T> | undefined;
  }>;
}

/** An effect that must not be repeated in silence. */
export interface Once<T> {
  /** Asks the outside world how it ended, when a crash or an error left no outcome. */
  readonly probe?: (() => Probed<T> | Promise<Probed<T>>) | undefined;
  /** The call, as people see it when they have to settle it. */
  readonly call?: Json | undefined;
  /** The result of the step when a person says that it happened; as given, unless said. `made`: the call of its intent. */
  readonly resultOf?: ((given: Json | undefined, made: Json | undefined) => unknown) | undefined;
  /** Processes besides this one that run the effect. */
  readonly processes?: (() => readonly ProcessIdentity[]) | undefined;
}

/** Undefined: it cannot say. */
export type Probed<T> =
  | { readonly happened: true; readonly result?: T }
  | { readonly happened: false }
  | undefined;

/** The recorder adds phase and persona. */
export type SavedBy = Omit<SavedAmount, "phase" | "persona">;

/** How models, tools and checks record what they do; the executor of an attempt implements it. */
export type RunStep = <T>(step: DurableStep<T>) => Promise<T>;

/** Error code of an answer that was cut at the output that its budgets left: the call is made again with more room. */
export const answerCut = "ANSWER_CUT";

/** Error code of a call that its own caller abandoned: it says nothing about the service. */
export const callAbandoned = "CALL_ABANDONED";
