import { advise } from "../domain/advice.ts";
import {
  type Admission,
  type BreakerPolicy,
  type BreakerRecord,
  type CallOutcome,
  raisesTicket,
} from "../domain/breaker.ts";
import type { Clock } from "../domain/clock.ts";
import { CircuitOpen } from "../domain/errors.ts";
import type { Failure } from "../domain/failure.ts";
import { newId } from "../domain/ids.ts";
import { callAbandoned } from "../journal/durable-step.ts";
import type { BreakerStore, BreakerUse } from "../store/breaker-store.ts";

const renewalsPerDeadline = 3;

export interface BreakerOptions {
  readonly breakers: BreakerStore;
  readonly policy: BreakerPolicy;
  readonly clock: Clock;
  /** The probes keep failing, and a person should know. */
  readonly onHopeless: (dependency: string, record: BreakerRecord) => Promise<void>;
}

/** One breaker per dependency, in the store: all sessions and processes share it. */
export class CircuitBreaker {
  readonly #options: BreakerOptions;

  constructor(options: BreakerOptions) {
    this.#options = options;
  }

  use(dependency: string): BreakerUse {
    return { dependency, owner: newId(), policy: this.#options.policy };
  }

  admit(use: BreakerUse): Promise<Admission> {
    return this.#options.breakers.admit(use);
  }

  /** The error of a refused call that does not wait. */
  refusal(dependency: string, retryAt: number): CircuitOpen {
    return new CircuitOpen(
      `${dependency} is not called: its breaker is open until ${new Date(retryAt).toISOString()}.`,
      {
        details: { dependency, retryAt },
        advice: [
          advise("It is tried again automatically then."),
          advise("To try now", "breakers", "reset", dependency),
        ],
      },
    );
  }

  /** Makes the call. A probe renews its deadline while the call runs, and frees the probe if the call has no outcome. */
  async attend<T>(use: BreakerUse, call: () => Promise<T>): Promise<T> {
    if (use.isProbe !== true) return call();
    const over = new AbortController();
    void this.#renew(use, over.signal);
    try {
      return await call();
    } catch (error) {
      // If this fails, the probe expires at its deadline.
      await this.#options.breakers.end({ use, outcome: { kind: "unknown" } }).catch(() => undefined);
      throw error;
    } finally {
      over.abort();
    }
  }

  async #renew(use: BreakerUse, signal: AbortSignal): Promise<void> {
    const { breakers, clock, policy } = this.#options;
    try {
      for (;;) {
        await clock.sleep(policy.probeDeadlineMs / renewalsPerDeadline, signal);
        if ((await breakers.admit(use)).kind !== "probe") return;
      }
    } catch {
      // The call has ended, or the probe expires at its deadline.
    }
  }

  /** For detecting a change. A renewed deadline of a probe is not a change. */
  async stateOf(dependency: string): Promise<string> {
    const { state, notBefore } = await this.#options.breakers.read(dependency);
    return JSON.stringify([state.kind === "half-open" ? { ...state, deadline: 0 } : state, notBefore]);
  }

  /** Called after the outcome is committed. */
  async ended({ dependency }: BreakerUse, outcome: CallOutcome): Promise<void> {
    if (outcome.kind !== "outage") return;
    const record = await this.#options.breakers.read(dependency);
    if (raisesTicket(record)) await this.#options.onHopeless(dependency, record);
  }

  /**
   * For calls to trackers, which are not steps of a session: refused at once while the breaker is open. Raises no ticket:
   * a ticket about a tracker that is down would wait for that tracker.
   */
  async guard<T>(
    dependency: string,
    call: () => Promise<T>,
    outcomeOfError: (error: unknown) => CallOutcome,
  ): Promise<T> {
    const asking = this.use(dependency);
    const admission = await this.admit(asking);
    if (admission.kind === "refused") throw this.refusal(dependency, admission.retryAt);
    const use = { ...asking, isProbe: admission.kind === "probe" };
    const answer = await this.attend(use, async () => (await Promise.allSettled([call()]))[0]);
    const outcome: CallOutcome =
      answer.status === "fulfilled" ? { kind: "success" } : outcomeOfError(answer.reason);
    await this.#options.breakers.end({ use, outcome });
    if (answer.status === "rejected") throw answer.reason;
    return answer.value;
  }
}

/** The AI SDK's names of answers without content. Only the call is repeated, as after an outage. */
const uselessAnswers: ReadonlySet<string | undefined> = new Set([
  "AI_NoContentGeneratedError",
  "AI_NoOutputGeneratedError",
]);

/** The meaning of a failure for the dependency. A wrong answer is an answer, and a rate limit is not an outage. */
export function outcomeOfCall(failure: Failure | undefined): CallOutcome {
  // An abandoned call proves nothing about the service.
  if (failure?.code === callAbandoned) return { kind: "unknown" };
  if (failure?.category === "RATE_LIMIT") return { kind: "rate-limit", retryAfterMs: failure.retryAfterMs };
  return failure?.outage && !uselessAnswers.has(failure.code) ? { kind: "outage" } : { kind: "success" };
}
