import type { Clock } from "../domain/clock.ts";
import {
  type HeldLease,
  type LeaseState,
  leaseState,
  type Observation,
  watchedState,
  watchMs,
} from "./decisions/lease.ts";
import { type Heartbeat, type Owner, uptimeMs } from "./owner.ts";

interface Parts {
  readonly observer: Owner;
  readonly clock: Clock;
  readonly leaseMs: number;
  /** Resolves once the store lets this process write. Until then no owner may be able to beat. */
  readonly pass: () => Promise<unknown>;
  /** Grows when this process loses its way to the store: meanwhile it could not have seen a beat. */
  readonly interruptions?: () => number;
}

interface Watch {
  readonly beats: number;
  readonly done: Promise<void>;
}

/** Bound of remembered owners. For forgotten ones, recorded times are the hint. */
const mostSeen = 1_000;

/** Judges leases as this process sees them, the same way for every store. */
export class LeaseJudge {
  readonly #parts: Parts;
  /** Keyed by owner: one watch serves all sessions of that owner. */
  readonly #watches = new Map<string, Watch>();
  /** The last beat of each owner, and when it was seen to move. */
  readonly #seen = new Map<string, { readonly beats: number; readonly movedAt: number | undefined }>();
  readonly #end = new AbortController();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  stateOf(holder: Heartbeat | undefined): LeaseState {
    return leaseState(holder, this.#observe(holder));
  }

  /** Checks each process once, however many sessions it drives. */
  look(): (holder: Heartbeat | undefined) => LeaseState {
    const states = new Map<string | undefined, LeaseState>();
    return (holder) => {
      const state = states.get(holder?.id) ?? this.stateOf(holder);
      states.set(holder?.id, state);
      return state;
    };
  }

  /** True if the owner's machine has not been rebooted since. */
  isOfThisBoot({ boot }: Owner): boolean {
    return boot === this.#parts.observer.boot;
  }

  /** Call this before taking anything from the holder: an expired lease is watched first. */
  async judge(
    load: () => HeldLease | Promise<HeldLease>,
  ): Promise<HeldLease & { readonly state: LeaseState }> {
    const lease = await load();
    const { holder } = lease;
    const state = this.stateOf(holder);
    if (state !== "expired" || holder === undefined) return { ...lease, state };
    const interruptions = this.#parts.interruptions?.();
    await this.#watch(holder);
    // An interrupted watch proves nothing.
    if (this.#end.signal.aborted) return { ...lease, state: "held" };
    const after = await load();
    if (this.#parts.interruptions?.() !== interruptions) return { ...after, state: "held" };
    return { ...after, state: watchedState(holder, after.holder, this.#observe(after.holder)) };
  }

  /** Ends all watches, including later ones. */
  endWatches(): void {
    this.#end.abort();
  }

  #watch(holder: Heartbeat): Promise<void> {
    const { observer, leaseMs, pass } = this.#parts;
    const known = this.#watches.get(holder.id);
    if (known?.beats === holder.beats) return known.done;
    const ms = watchMs(holder, observer, leaseMs);
    if (ms <= 0 || this.#end.signal.aborted) return Promise.resolve();
    // No owner can beat while another process holds the write lock, so the watch starts when the lock is free.
    const done = Promise.race([pass().then(() => this.#wait(ms)), this.#ended()]);
    this.#watches.set(holder.id, { beats: holder.beats, done });
    done.catch(() => this.#watches.delete(holder.id));
    return done;
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#end.signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
    });
  }

  #ended(): Promise<void> {
    return new Promise((resolve) => {
      this.#end.signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }

  #observe(holder: Heartbeat | undefined): Observation {
    const { observer, clock, leaseMs } = this.#parts;
    const movedMs = holder === undefined ? undefined : this.#movedMs(holder);
    return { observer, now: clock.now(), uptimeMs: uptimeMs(), leaseMs, movedMs };
  }

  /** Measured by this process's own clock, restarting at each beat it sees. */
  #movedMs({ id, beats }: Heartbeat): number | undefined {
    const now = uptimeMs();
    const seen = this.#seen.get(id);
    if (seen?.beats === beats) return seen.movedAt === undefined ? undefined : now - seen.movedAt;
    if (this.#seen.size >= mostSeen) this.#seen.clear();
    this.#seen.set(id, { beats, movedAt: seen === undefined ? undefined : now });
    return seen === undefined ? undefined : 0;
  }
}
