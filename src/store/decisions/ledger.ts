import { type Amount, type BudgetLevelName, budgetLevels, noAmount } from "../../domain/budget.ts";
import { type CallEnding, type CallStatus, countedAs, type Settlement } from "../../domain/ledger.ts";
import { isSimulated } from "../../domain/simulated.ts";

/** A call as far as its reservation is concerned. */
export interface ReservedCall {
  /** Its name in this store. */
  readonly session: number | string;
  readonly epoch: number;
  readonly status: CallStatus;
}

type Proof = Omit<ReservedCall, "status">;

/** Answers of the simulated model cost nothing, so they take nothing of a day that real sessions share. */
export function levelsOf(model: string): readonly BudgetLevelName[] {
  return isSimulated(model) ? budgetLevels.filter((level) => level !== "day") : budgetLevels;
}

/** An estimate may still become the truth; a settled call never changes. */
const isUnsettled = ({ status }: ReservedCall): boolean => status === "open" || status === "estimated";

const isOfLease = (call: ReservedCall, { session, epoch }: Proof): boolean =>
  call.session === session && call.epoch === epoch;

/** Why the lease may not settle the call; undefined when it may. */
export function refusesToSettle(call: ReservedCall | undefined, lease: Proof): string | undefined {
  if (call === undefined || !isOfLease(call, lease)) return "is not of this lease";
  return isUnsettled(call) ? undefined : "is settled already";
}

/**
 * A release is repeated after an unclear answer, so a reservation that is gone, or that a later epoch has taken over, is
 * left alone.
 */
export function decideRelease(
  call: ReservedCall | undefined,
  lease: Proof,
): "remove" | "nothing to do" | "settled" {
  if (call === undefined || !isOfLease(call, lease)) return "nothing to do";
  return isUnsettled(call) ? "remove" : "settled";
}

/** The amounts by which a call counts in each of its totals. */
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

/** Input that the provider read from its cache; undefined when that saved nothing. */
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
 * Within its own session only this driver reserves. Over the day the calls in the way may be those of dead drivers: they
 * are counted as made, and the reservation is tried again.
 */
export function mayBeHeldUpByTheDead(answer: { readonly kind: string; readonly level?: string }): boolean {
  return answer.kind === "wait" && answer.level === "day";
}
