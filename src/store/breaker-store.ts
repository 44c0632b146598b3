import type { Admission, BreakerPolicy, BreakerRecord, CallOutcome } from "../domain/breaker.ts";

/** One call to a dependency, as its breaker sees it. */
export interface BreakerUse {
  readonly dependency: string;
  /** Unique to the call. */
  readonly owner: string;
  /** The breaker admitted the call as a probe. */
  readonly isProbe?: boolean;
  readonly policy: BreakerPolicy;
}

/** A call and its outcome, committed together with its result. */
export interface EndedCall {
  readonly use: BreakerUse;
  readonly outcome: CallOutcome;
}

/** The breakers of all dependencies, shared by all sessions and processes. */
export interface BreakerStore {
  /** Asks whether a call may be made. Across all processes one caller gets the probe, and asking again renews it. */
  admit(use: BreakerUse): Promise<Admission>;
  /** Records the end of a call that leaves no journal entry. Other calls end with their entry. */
  end(call: EndedCall): Promise<void>;
  read(dependency: string): Promise<BreakerRecord>;
  list(): Promise<readonly { readonly dependency: string; readonly record: BreakerRecord }[]>;
  /**
   * Closes the breaker and makes the sessions that wait for it, parked or resting, due in the same transaction.
   * False if there was nothing to reset.
   */
  reset(dependency: string): Promise<boolean>;
}
