import { type Heartbeat, isKnownDead, isKnownStopped, isOfEarlierBoot, type Owner } from "../owner.ts";

export type LeaseState = "free" | "held" | "dead" | "expired";

export interface Observation {
  readonly observer: Owner;
  readonly now: number;
  readonly uptimeMs: number;
  readonly leaseMs: number;
  /** Time since the observer saw the holder's beat move; undefined if it never did. */
  readonly movedMs?: number | undefined;
}

/** Beats that a process sends within one lease time. */
const beatsPerLease = 3;

/** Time to connect again for a process whose connection ended. */
const goneWatchMs = 2_000;

export function beatMs(leaseMs: number): number {
  return Math.ceil(leaseMs / beatsPerLease);
}

/**
 * Judges a lease at one moment. A dead process on this machine loses its lease at once, a silent one (stopped, or
 * elsewhere) when the lease time is over. `expired` may be shown to people, but does not allow a takeover: see
 * `watchMs`.
 */
export function leaseState(
  holder: Heartbeat | undefined,
  { observer, now, uptimeMs, leaseMs, movedMs }: Observation,
): LeaseState {
  if (holder === undefined) return "free";
  if (isKnownDead(holder, observer)) return "dead";
  if (holder.isGone === true) return "expired";
  // Within one boot all processes share a clock that never jumps. Across boots an observer that saw the beat move
  // is more reliable than any recorded time. On its first look only the wall clock remains, and a heartbeat from
  // the future is as stale as one from the past.
  const silentMs =
    holder.boot === observer.boot
      ? uptimeMs - holder.beatUptimeMs
      : (movedMs ?? Math.abs(now - holder.beatAt));
  return silentMs > leaseMs ? "expired" : "held";
}

/**
 * How long a claimant must watch an expired lease without a beat before it takes it. Recorded times alone prove
 * nothing: wall clocks of two machines differ, a machine may have been suspended, and a long write of another
 * process keeps all owners from beating. The watch uses the claimant's own clock. Within one boot the silence so
 * far counts, so the time for one more beat is enough. A holder that cannot beat, because it is stopped or its
 * machine was rebooted, is not watched.
 */
export function watchMs(holder: Heartbeat, observer: Owner, leaseMs: number): number {
  if (isKnownStopped(holder, observer) || isOfEarlierBoot(holder, observer)) return 0;
  if (holder.isGone === true) return Math.min(goneWatchMs, leaseMs);
  return holder.boot === observer.boot ? 1.5 * beatMs(leaseMs) : leaseMs;
}

/**
 * The state of a lease after the watch. A beat during the watch proves life, whatever the clocks say. An owner that
 * took the lease meanwhile was not watched.
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

/** A lease and the process that holds it, with its last heartbeat. Epoch 0 before the first claim. */
export interface HeldLease {
  readonly epoch: number;
  readonly holder: Heartbeat | undefined;
}

/** A lease as a store has it. Epoch 0 before the first claim. */
export interface StoredLease {
  readonly epoch: number;
  readonly owner: string | null;
}

/** A lease as it was judged. The transaction that takes or removes it must find it unchanged. */
export type JudgedLease = StoredLease & { readonly beat: number | null };

export const asJudged = ({ epoch, holder }: HeldLease): JudgedLease => ({
  epoch,
  owner: holder?.id ?? null,
  beat: holder?.beats ?? null,
});

/** Nothing may have changed since the lease was judged: no claim, release or beat. */
export function isAsJudged(lease: JudgedLease, judged: JudgedLease): boolean {
  return lease.epoch === judged.epoch && lease.owner === judged.owner && lease.beat === judged.beat;
}
