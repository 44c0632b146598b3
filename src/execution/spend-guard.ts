import type { AttemptState } from "../domain/session-state.ts";
import type { Spend } from "../domain/usage.ts";
import type { Lease } from "../state/lease.ts";

/** Whose call it is. */
export type CallPlace = Pick<AttemptState, "phase" | "persona" | "round" | "attempt" | "started">;

/** Sets money aside before a call; the record of the call settles it. */
export interface SpendGuard {
  /** Waits while only open reservations stand in the way; BudgetExceeded when the limit itself does. */
  reserve(lease: Lease, place: CallPlace, spend: Spend<never>, signal: AbortSignal): Promise<number>;
  /** The call was surely never made. */
  release(lease: Lease, reservation: number): Promise<void>;
  /** A call was settled: whoever waits may have room now, and somebody may have to be warned. */
  settled(lease: Lease, place: CallPlace): Promise<void>;
}
