import type { Admission, BreakerPolicy, BreakerRecord, CallOutcome } from "../domain/breaker.ts";

/** One call to a dependency, as its breaker sees it. */
export interface BreakerUse {
  readonly dependency: string;
  /** Unique to the call. */
  readonly owner: string;
  /** It was let through as a probe. */
  readonly isProbe?: boolean;
  readonly policy: BreakerPolicy;
}

/** A call and how it ended: committed together with what the call produced. */
export interface EndedCall {
  readonly use: BreakerUse;
  readonly outcome: CallOutcome;
}

/** The breakers of all dependencies, shared by all sessions and processes. */
export interface BreakerStore {
  /** Asks for leave to call; in all processes together, one caller gets the probe, and renews it by asking again. */
  admit(use: BreakerUse): Promise<Admission>;
  /** For calls that leave no journal entry; the others end with it. */
  end(call: EndedCall): Promise<void>;
  read(dependency: string): Promise<BreakerRecord>;
  list(): Promise<readonly { readonly dependency: string; readonly record: BreakerRecord }[]>;
  /**
   * Sessions that wait for the dependency, parked or resting, are due from then on: in the same transaction. False when
   * there was nothing to reset.
   */
  reset(dependency: string): Promise<boolean>;
}
