import type { Clock } from "../../domain/clock.ts";
import { type LeaseState, leaseState } from "../decisions/lease.ts";
import { type Heartbeat, mayBeHeldUp, type Owner, uptimeMs } from "../owner.ts";
import type { LeaseRow, Reader } from "./reader.ts";

const beatsPerLease = 3;

interface Parts {
  readonly reader: Reader;
  readonly observer: Owner;
  readonly clock: Clock;
  readonly leaseMs: number;
  /** Resolves when this process had its turn at the write lock. */
  readonly pass: () => Promise<unknown>;
}

/** Who may still drive a session, as this process sees it. */
export class LeaseJudge {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  get beatMs(): number {
    return Math.ceil(this.#parts.leaseMs / beatsPerLease);
  }

  stateOf(holder: Heartbeat | undefined): LeaseState {
    const { observer, clock, leaseMs } = this.#parts;
    return leaseState(holder, { observer, now: clock.now(), uptimeMs: uptimeMs(), leaseMs });
  }

  /**
   * Whoever holds the write lock for long keeps everybody from beating. So a silent owner that seems to live gets the
   * time for a beat after a moment in which the lock was surely free; only then is its silence its own.
   */
  async judge(session: number): Promise<LeaseRow & { readonly state: LeaseState }> {
    const { observer, pass } = this.#parts;
    const lease = this.#look(session);
    if (lease.state !== "expired" || lease.holder === undefined) return lease;
    if (!mayBeHeldUp(lease.holder, observer)) return lease;
    await pass();
    await new Promise((resolve) => setTimeout(resolve, 1.5 * this.beatMs));
    return this.#look(session);
  }

  #look(session: number): LeaseRow & { readonly state: LeaseState } {
    const lease = this.#parts.reader.lease(session);
    return { ...lease, state: this.stateOf(lease.holder) };
  }
}
