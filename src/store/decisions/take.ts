import type { SessionId } from "../../domain/ids.ts";
import type { ClaimCause } from "../../journal/journal.ts";
import { ruleOf, type SessionStatus } from "../../journal/standing.ts";
import type { Candidate, Claim } from "../journal.ts";
import type { Heartbeat } from "../owner.ts";
import type { SessionRecord } from "../session-record.ts";
import type { LeaseState } from "./lease.ts";
import { type Limited, limitsOf, type RunningCounts, reachedLimit, type SessionLimits } from "./limits.ts";

/** The fields of a session that the order of turns depends on. */
export interface Turn extends Limited {
  readonly id: SessionId;
  readonly priority: number;
  /** The time from which it may be taken. */
  readonly wakeAt: number;
  /** Consecutive takeovers after unclean ends, without a new step. */
  readonly recoveries: number;
}

/** A session that says `running` or has a recorded driver. */
export interface DrivenTurn extends Turn {
  readonly status: SessionStatus;
  /** It has no driver until its wait is over. */
  readonly isResting: boolean;
  readonly holder: Heartbeat | undefined;
}

/** A session that may be taken. */
export interface Waiting extends Turn {
  /** Its driver is dead. */
  readonly isAbandoned: boolean;
  /** Its driver died while driving it, possibly because of it. */
  readonly isSuspect: boolean;
}

/** No live process drives it, and it is not just resting. */
export const isLeft = ({ holder, isResting }: DrivenTurn, state: LeaseState): boolean =>
  state !== "held" && (holder !== undefined || !isResting);

/**
 * Yields the sessions in the order of their turns. The caller passes to `next` whether it took the last one, which
 * then counts toward limits and its team's turns. Sessions without a driver come first, the least often recovered
 * before the others, so that a session that kills its process comes last. Then come higher priorities, teams with
 * fewer running sessions, and longer waits. `onProbation` holds the suspects that this process has taken and that
 * have recorded nothing new yet; the claim of a suspect adds it. No second suspect is taken meanwhile, however long
 * the call of the first takes: either of the two may end the process, and the other one's call would be repeated.
 */
export function* inTurn(
  waiting: readonly Waiting[],
  running: RunningCounts,
  limits: SessionLimits,
  onProbation: ReadonlySet<SessionId>,
): Generator<Waiting, void, boolean> {
  const hasPlace = (session: Limited) =>
    reachedLimit(limitsOf(session, limits), (kind, name) => running.of(kind, name)) === undefined;
  for (const session of waiting.filter(({ isAbandoned }) => isAbandoned).toSorted(abandonedFirst)) {
    if ((session.isSuspect && onProbation.size > 0) || !hasPlace(session)) continue;
    if (yield session) running.add(session);
  }
  // Sessions of one lane have the same limits, so a lane is full for all of them or for none.
  const due = waiting.filter(({ isAbandoned }) => !isAbandoned).toSorted(dueFirst);
  const lanes = [
    ...Map.groupBy(due, ({ team, model, queue }) => JSON.stringify([team, model, queue])).values(),
  ];
  for (;;) {
    const open = lanes.filter(([head]) => head !== undefined && hasPlace(head));
    const lane = open.reduce<Waiting[] | undefined>(
      (best, other) => (best === undefined || isBefore(other, best, running) ? other : best),
      undefined,
    );
    const next = lane?.shift();
    if (next === undefined) return;
    if (yield next) running.add(next);
  }
}

const abandonedFirst = (one: Waiting, other: Waiting): number =>
  one.recoveries - other.recoveries || dueFirst(one, other);

const dueFirst = (one: Waiting, other: Waiting): number =>
  other.priority - one.priority || one.wakeAt - other.wakeAt;

function isBefore([one]: readonly Waiting[], [other]: readonly Waiting[], running: RunningCounts): boolean {
  if (one === undefined || other === undefined) return other === undefined;
  const byTeam = running.of("team", one.team) - running.of("team", other.team);
  return (other.priority - one.priority || byTeam || one.wakeAt - other.wakeAt) < 0;
}

/**
 * A session whose driver died before it was asked to run has nothing to drive. Only its driver's last files are
 * finished.
 */
export function candidateOf(session: SessionRecord, isDue: boolean): Candidate {
  const { status, wakeAt } = session;
  const wasDriven = status === "running" && wakeAt === undefined;
  return { session, isToDrive: isDue || wasDriven || wakesByItself(session) };
}

const wakesByItself = ({ reason }: SessionRecord): boolean =>
  reason !== undefined && ruleOf(reason).wakes === true;

/** A driver that ended cleanly leaves nothing to recover. */
export function causeOf({ session, isToDrive }: Candidate, found: Claim["found"]): ClaimCause {
  if (!isToDrive) return "signal";
  if (found !== "free") return "recovery";
  return session.status === "running" && session.wakeAt !== undefined ? "wake" : "start";
}
