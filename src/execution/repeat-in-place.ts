import { sha256 } from "../domain/canonical.ts";
import type { Failure } from "../domain/failure.ts";
import type { Wait } from "../domain/journal.ts";
import { decideAfterAttempt, type RetryPolicy } from "../domain/retry-policy.ts";
import { longestWaitMs } from "./admission.ts";
import type { StepIdentity } from "./step-identity.ts";

/** What the wait before a call is repeated is called in the journal. */
export const repeatName = "repeat after an outage";

/** One wait for each time that one call is repeated. */
export const repeatOf = ({ fingerprint, occurrence }: StepIdentity, repeats: number): StepIdentity => ({
  fingerprint: sha256(`repeat ${fingerprint} ${occurrence}`).slice(0, 32),
  occurrence: repeats,
});

/** Undefined when the call is not worth asking again here: its attempt ends with it. */
export function waitToRepeat(
  policy: RetryPolicy,
  failure: Failure | undefined,
  repeats: number,
  now: number,
): Wait | undefined {
  if (failure?.outage !== true) return undefined;
  const decision = decideAfterAttempt(policy, repeats + 1, true, Math.random());
  if (decision.kind === "exhausted") return undefined;
  const waitMs = Math.max(decision.delayMs, failure.retryAfterMs ?? 0);
  return waitMs > longestWaitMs ? undefined : { notBefore: now + waitMs, waitMs };
}
