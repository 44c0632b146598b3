import type { Granted, Reserved } from "../cost/budget.ts";
import { isEarlyProbe } from "../domain/breaker.ts";
import type { Failure } from "../domain/failure.ts";
import type { ReservationId } from "../domain/ledger.ts";
import { decideAfterAttempt, type RetryPolicy } from "../domain/retry-policy.ts";
import { type Spend, type Spent, totalTokens } from "../domain/usage.ts";
import type { Wait } from "../journal/journal.ts";
import type { AttemptState } from "../journal/session-state.ts";
import type { BreakerUse } from "../store/breaker-store.ts";
import type { ShrunkOutput } from "../store/journal.ts";
import type { Effects } from "../store/store.ts";
import { outcomeOfCall } from "./circuit-breaker.ts";
import type { Drive } from "./drive.ts";
import type { Performed } from "./step-effect.ts";

// Decides whether a call may be made, and whether a failed call is repeated within its step.

/** A step waits no longer than this for a breaker. The session then parks and resumes automatically. */
export const longestWaitMs = 600_000;
/** How often a wait checks whether the service is back. */
const lookAgainMs = 1_000;
/** How often a call that waits for its provider's minute says so. */
const noteAgainMs = 60_000;

/** The right to make one call: money is reserved for it, and its dependency's breaker has admitted it. */
export interface Admitted {
  readonly use: BreakerUse | undefined;
  readonly reservation: ReservationId | undefined;
  /** Set when its budgets leave less output than it asked for. */
  readonly shrunk?: ShrunkOutput | undefined;
  /** A probe whose failure is not yet worth reporting. */
  readonly isEarlyProbe: boolean;
}

/** Runs work that waits, for `waitMs` at most where that is known. */
export type WaitDuring = <T>(waitMs: number | undefined, work: () => Promise<T>) => Promise<T>;

/**
 * Money first, so that no call holds the only probe of a dependency while it waits for money. The money is released
 * while a breaker is waited for, so that other calls may use it.
 */
export async function admitCall(
  drive: Drive,
  attempt: AttemptState,
  call: { readonly dependency?: string | undefined; readonly spend?: Spend<never> | undefined },
  waitDuring: WaitDuring,
): Promise<Admitted> {
  const { breaker, clock, control, journal, spending } = drive;
  const { dependency, spend } = call;
  for (;;) {
    let retryAt = 0;
    const granted = spend && (await reserveInTurn(drive, attempt, spend, waitDuring));
    const { reservation, shrunk } = granted ?? {};
    if (control.stopped === undefined) {
      if (dependency === undefined) return { use: undefined, reservation, shrunk, isEarlyProbe: false };
      const use = breaker.use(dependency);
      const admission = await breaker.admit(use);
      if (admission.kind !== "refused") {
        const isProbe = admission.kind === "probe";
        const early = isEarlyProbe(admission.record);
        return { use: { ...use, isProbe }, reservation, shrunk, isEarlyProbe: early };
      }
      retryAt = admission.retryAt;
    }
    // Never sent, so it must not look like a call whose answer was lost.
    if (reservation !== undefined) await spending.release(reservation);
    control.throwIfStopped();
    const waitMs = retryAt - clock.now();
    if (waitMs > longestWaitMs) throw breaker.refusal(dependency ?? "", retryAt);
    const { started, phase, persona } = attempt;
    await journal.append([
      { kind: "dependency.waiting", started, phase, persona, dependency: dependency ?? "", until: retryAt },
    ]);
    await waitDuring(waitMs, () => waitForBreaker(drive, dependency ?? "", waitMs));
    control.throwIfStopped();
  }
}

/** Waits, however long it takes, for room in the minute of the provider. A wait of a moment is not worth a row. */
async function reserveInTurn(
  { clock, control, journal, spending }: Drive,
  attempt: AttemptState,
  spend: Spend<never>,
  waitDuring: WaitDuring,
): Promise<Granted> {
  const reserve = () => spending.reserve(attempt, spend, control.stopSignal);
  const { started, phase, persona } = attempt;
  let notedAt = Number.NEGATIVE_INFINITY;
  let answer = await waitDuring(undefined, reserve);
  while (answer.kind === "later") {
    control.throwIfStopped();
    const { provider, unit, until } = answer;
    const now = clock.now();
    if (until - now > lookAgainMs && now - notedAt >= noteAgainMs) {
      notedAt = now;
      await journal.append([
        { kind: "dependency.waiting", started, phase, persona, dependency: provider, until, limit: unit },
      ]);
    }
    answer = await waitDuring(until - now, async () => {
      let later: Reserved;
      do {
        // A little more than until then: many calls may wait for the same moment.
        const shareMs = Math.floor(Math.random() * 100);
        await clock.sleep(
          Math.max(0, Math.min(lookAgainMs, until - clock.now())) + shareMs,
          control.stopSignal,
        );
        later = await reserve();
      } while (later.kind === "later" && later.until <= until && clock.now() < until);
      return later;
    });
  }
  return answer;
}

/** Waits for the time of the next probe, or until a probe or a person changes the breaker. */
async function waitForBreaker(
  { breaker, clock, control }: Drive,
  dependency: string,
  waitMs: number,
): Promise<void> {
  const before = await breaker.stateOf(dependency);
  for (let waited = 0; waited < waitMs; waited += lookAgainMs) {
    await clock.sleep(Math.min(lookAgainMs, waitMs - waited), control.stopSignal);
    if ((await breaker.stateOf(dependency)) !== before) break;
  }
  // All waiting calls may be made now, but not at the same moment.
  await clock.sleep(Math.floor(Math.random() * Math.min(lookAgainMs, waitMs)), control.stopSignal);
}

/** Commits the end of an admitted call to its breaker and its budget. */
export function effectsOf({ use, reservation }: Admitted, { artifacts, failure, spent }: Performed): Effects {
  if (use === undefined && reservation === undefined && artifacts.length === 0) return {};
  return {
    artifacts,
    call: use && { use, outcome: outcomeOfCall(failure) },
    settlement: reservation === undefined || spent === undefined ? undefined : { reservation, ...spent },
  };
}

/** The attempt that a failed call belongs to. */
export interface CallingAttempt {
  readonly running: { readonly attempt: Pick<AttemptState, "continues">; readonly hasProgressed: boolean };
  /** Another model can take over, so that waiting for this one is pointless. */
  readonly hasFallback: boolean;
  /**
   * How to repeat a call that an outage ended, once the attempt has recorded something of its own. Undefined unless the
   * attempt is the last of its round: after any other, the next attempt continues from its records.
   */
  readonly repeats: RetryPolicy | undefined;
}

export interface FailedCall {
  readonly failure: Failure;
  readonly isEarlyProbe: boolean;
  /** Committed with the failure: what the call means for its breaker and its budget. */
  readonly effects: Effects;
  /** Since the step was first requested. */
  readonly waitedMs: number;
  /** How often the call was repeated before. */
  readonly repeats: number;
}

/** `admission`: the breaker decides again how long to wait. Undefined: the attempt ends with the call. */
export function decideRepeat(
  call: FailedCall,
  of: CallingAttempt,
  now: number,
): Wait | "admission" | undefined {
  return isEarlyProbeOutage(call) || isKnownRateLimit(call, of) ? "admission" : waitToRepeat(call, of, now);
}

/** The service is already known to be down: the same attempt waits for the next probe. */
function isEarlyProbeOutage({ isEarlyProbe, effects }: FailedCall): boolean {
  return isEarlyProbe && effects.call?.outcome.kind === "outage";
}

/**
 * The previous attempt ended because of the same rate limit: this one waits for it to pass, unless the refused call may
 * have cost something.
 */
function isKnownRateLimit({ effects, waitedMs }: FailedCall, of: CallingAttempt): boolean {
  const { call, settlement } = effects;
  if (call?.outcome.kind !== "rate-limit") return false;
  if (settlement !== undefined && !isFree(settlement.spent)) return false;
  const isContinued = of.running.attempt.continues !== undefined;
  return isContinued && !of.hasFallback && waitedMs < longestWaitMs;
}

const isFree = ({ usage }: Spent): boolean => usage !== null && totalTokens(usage) === 0;

function waitToRepeat(
  { failure, repeats }: FailedCall,
  { running, repeats: policy }: CallingAttempt,
  now: number,
): Wait | undefined {
  if (policy === undefined || !running.hasProgressed || !failure.outage) return undefined;
  const decision = decideAfterAttempt(policy, repeats + 1, true, Math.random());
  if (decision.kind === "exhausted") return undefined;
  const waitMs = Math.max(decision.delayMs, failure.retryAfterMs ?? 0);
  return waitMs > longestWaitMs ? undefined : { notBefore: now + waitMs, waitMs };
}
