import { isEarlyProbe } from "../domain/breaker.ts";
import type { Clock } from "../domain/clock.ts";
import type { AttemptState } from "../domain/session-state.ts";
import type { Spend } from "../domain/usage.ts";
import type { BreakerUse } from "../state/breaker-store.ts";
import type { SessionJournal } from "../state/session-journal.ts";
import type { CircuitBreaker } from "./circuit-breaker.ts";
import type { Control } from "./control.ts";
import type { SpendGuard } from "./spend-guard.ts";
import type { Watchdog } from "./watchdog.ts";

/** A breaker that stays open for longer than this is not waited for: the session parks and is taken up again. */
export const longestWaitMs = 600_000;
/** How soon a wait notices that the service is back. */
const lookAgainMs = 1_000;

export interface AdmissionParts {
  readonly journal: SessionJournal;
  readonly control: Control;
  readonly clock: Clock;
  readonly breaker: CircuitBreaker;
  readonly spending: SpendGuard;
}

/** The right to make one call: money set aside for it, and its dependency's breaker has let it through. */
export interface Admitted {
  readonly use: BreakerUse | undefined;
  readonly reservation: number | undefined;
  /** A probe whose failure is not yet worth telling anybody. */
  readonly isEarlyProbe: boolean;
}

/** Until its time has come, or somebody's probe or a person has changed the breaker before. */
async function waitForBreaker(
  { breaker, clock, control }: AdmissionParts,
  dependency: string,
  waitMs: number,
): Promise<void> {
  const before = await breaker.stateOf(dependency);
  for (let waited = 0; waited < waitMs; waited += lookAgainMs) {
    await clock.sleep(Math.min(lookAgainMs, waitMs - waited), control.stopSignal);
    if ((await breaker.stateOf(dependency)) !== before) break;
  }
  // All who waited may call now; not all in the same moment.
  await clock.sleep(Math.floor(Math.random() * Math.min(lookAgainMs, waitMs)), control.stopSignal);
}

/**
 * Money first, so that nobody holds the only probe of a dependency while it waits for money; given back while a
 * breaker is waited for, so that others may use it.
 */
export async function admitCall(
  parts: AdmissionParts,
  attempt: AttemptState,
  watchdog: Watchdog,
  call: { readonly dependency?: string | undefined; readonly spend?: Spend<never> | undefined },
): Promise<Admitted> {
  const { breaker, clock, control, journal, spending } = parts;
  const { dependency, spend } = call;
  for (;;) {
    let retryAt = 0;
    const reservation =
      spend === undefined
        ? undefined
        : await watchdog.during(() => spending.reserve(journal.lease, attempt, spend, control.stopSignal));
    if (control.stopped === undefined) {
      if (dependency === undefined) return { use: undefined, reservation, isEarlyProbe: false };
      const use = breaker.use(dependency);
      const admission = await breaker.admit(use);
      if (admission.kind !== "refused") {
        const isProbe = admission.kind === "probe";
        return { use: { ...use, isProbe }, reservation, isEarlyProbe: isEarlyProbe(admission.record) };
      }
      retryAt = admission.retryAt;
    }
    // Never sent, so it must not look like a call whose answer was lost.
    if (reservation !== undefined) await spending.release(journal.lease, reservation);
    control.throwIfStopped();
    const waitMs = retryAt - clock.now();
    if (waitMs > longestWaitMs) throw breaker.refusal(dependency ?? "", retryAt);
    const { started, phase, persona } = attempt;
    await journal.append([
      { kind: "dependency.waiting", started, phase, persona, dependency: dependency ?? "", until: retryAt },
    ]);
    await watchdog.during(() => waitForBreaker(parts, dependency ?? "", waitMs));
    control.throwIfStopped();
  }
}
