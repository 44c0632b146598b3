import { type Heartbeat, isKnownDead, isKnownStopped, isOfEarlierBoot, type Owner } from "../owner.ts";

export type LeaseState = "free" | "held" | "dead" | "expired";

export interface Observation {
  readonly observer: Owner;
  readonly now: number;
  readonly uptimeMs: number;
  readonly leaseMs: number;
  /** How long ago the observer saw the holder's beat move; undefined when it never saw it move. */
  readonly movedMs?: number | undefined;
}

/** A process sends so many beats within the time of a lease. */
const beatsPerLease = 3;

export function beatMs(leaseMs: number): number {
  return Math.ceil(leaseMs / beatsPerLease);
}

/**
 * One look at a lease. A dead process on this machine ends its lease at once; a silent one (stopped, or elsewhere) when
 * the lease is over. `expired` is enough to tell people, and not enough to take the lease: see `watchMs`.
 */
export function leaseState(
  holder: Heartbeat | undefined,
  { observer, now, uptimeMs, leaseMs, movedMs }: Observation,
): LeaseState {
  if (holder === undefined) return "free";
  if (isKnownDead(holder, observer)) return "dead";
  // Within one boot all processes share a clock that never jumps. Across boots an observer that saw the beat move knows
  // better than any recorded time; at its first look only the wall clock is left, and a heartbeat from the future is as
  // stale as one from the past.
  const silentMs =
    holder.boot === observer.boot
      ? uptimeMs - holder.beatUptimeMs
      : (movedMs ?? Math.abs(now - holder.beatAt));
  return silentMs > leaseMs ? "expired" : "held";
}

/**
 * How long a claimant must watch an expired lease without a beat before it takes the lease. Times that others recorded
 * prove nothing alone: wall clocks of two machines differ, a machine may have been suspended between a beat and this
 * look, and a long write of another process keeps all owners from beating. The watch runs on the claimant's own clock.
 * Within one boot the silence so far counts, so the time for one more beat is enough. A holder that cannot beat, because it
 * is stopped or its machine was started anew, is not watched.
 */
export function watchMs(holder: Heartbeat, observer: Owner, leaseMs: number): number {
  if (isKnownStopped(holder, observer) || isOfEarlierBoot(holder, observer)) return 0;
  return holder.boot === observer.boot ? 1.5 * beatMs(leaseMs) : leaseMs;
}

/**
 * The state of a lease after the watch. A beat in that time proves life, whatever the clocks say. An owner that took the
 * lease meanwhile was not watched.
 */
export function watchedState(
  before: Heartbeat,
  after: Heartbeat | undefined,
  observation: Observation,
): LeaseState {
  const isUnwatched = after !== undefined && after.id !== before.id;
  const hasBeaten = after !== undefined && after.beats !== before.beats;
  if (isUnwatched || hasBeaten) return "held";
  return leaseState(after, observation);
}

/** A lease and the process that holds it, with its last sign of life; epoch 0 before the first claim. */
export interface HeldLease {
  readonly epoch: number;
  readonly holder: Heartbeat | undefined;
}

/** A lease as a store has it; epoch 0 before the first claim. */
export interface StoredLease {
  readonly epoch: number;
  readonly owner: string | null;
}

/** A lease as it was when it was judged: what the transaction that takes or removes it must still find. */
export type JudgedLease = StoredLease & { readonly beat: number | null };

export const asJudged = ({ epoch, holder }: HeldLease): JudgedLease => ({
  epoch,
  owner: holder?.id ?? null,
  beat: holder?.beats ?? null,
});

/** Nothing may have happened to the lease since it was judged: no claim, no release and no beat. */
export function isAsJudged(lease: JudgedLease, judged: JudgedLease): boolean {
  return lease.epoch === judged.epoch && lease.owner === judged.owner && lease.beat === judged.beat;
}
