import { type Amount, type BudgetLevelName, budgetLevels, noAmount } from "../../domain/budget.ts";
import { type CallEnding, type CallStatus, countedAs, type Settlement } from "../../domain/ledger.ts";
import { isSimulated } from "../../domain/simulated.ts";

/** The fields of a call that its reservation depends on. */
export interface ReservedCall {
  /** The name of the session in this store. */
  readonly session: number | string;
  readonly epoch: number;
  readonly status: CallStatus;
}

type Proof = Omit<ReservedCall, "status">;

/** The simulated model costs nothing, so it uses nothing of the day that real sessions share. */
export function levelsOf(model: string): readonly BudgetLevelName[] {
  return isSimulated(model) ? budgetLevels.filter((level) => level !== "day") : budgetLevels;
}

/** An estimate may still be replaced by the truth. A settled call never changes. */
const isUnsettled = ({ status }: ReservedCall): boolean => status === "open" || status === "estimated";

const isOfLease = (call: ReservedCall, { session, epoch }: Proof): boolean =>
  call.session === session && call.epoch === epoch;

/** Why the lease may not settle the call; undefined when it may. `found`: what the call of an earlier driver took. */
export function refusesToSettle(
  call: ReservedCall | undefined,
  lease: Proof,
  found = false,
): string | undefined {
  if (found) {
    if (call === undefined || call.session !== lease.session) return "is not of this session";
    return call.status === "estimated" ? undefined : "is not estimated";
  }
  if (call === undefined || !isOfLease(call, lease)) return "is not of this lease";
  return isUnsettled(call) ? undefined : "is settled already";
}

/**
 * A release may be repeated after an unclear answer, so a reservation that is gone, or that a later epoch has taken
 * over, is left alone.
 */
export function decideRelease(
  call: ReservedCall | undefined,
  lease: Proof,
): "remove" | "nothing to do" | "settled" {
  if (call === undefined || !isOfLease(call, lease)) return "nothing to do";
  return isUnsettled(call) ? "remove" : "settled";
}

/** The amounts that a call adds to each of its totals. */
export interface Counted {
  readonly used: Amount;
  readonly reserved: Amount;
}

/** An open call counts as reserved, an ended one as used. */
export function countedIn(ending: CallEnding | undefined, asked: Amount): Counted {
  return ending === undefined
    ? { used: noAmount, reserved: asked }
    : { used: countedAs(ending, asked), reserved: noAmount };
}

/** Money saved by input from the provider's cache; undefined if nothing was saved. */
export function cacheSaving(
  { usage }: CallEnding,
  { cacheSavedMicroUsd = null }: Settlement["spent"],
): Amount | undefined {
  const tokens = usage?.cachedInputTokens ?? 0;
  return tokens === 0 && (cacheSavedMicroUsd ?? 0) === 0
    ? undefined
    : { tokens, microUsd: cacheSavedMicroUsd };
}

/**
 * Within its own session only this driver reserves. Over the day, calls of dead drivers may be in the way: they are
 * then counted as made, and the reservation is retried.
 */
export function mayBeHeldUpByTheDead(answer: { readonly kind: string; readonly level?: string }): boolean {
  return answer.kind === "wait" && answer.level === "day";
}
