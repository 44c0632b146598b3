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

export interface BreakerParts {
  readonly breakers: BreakerStore;
  readonly policy: BreakerPolicy;
  readonly clock: Clock;
  /** Probes keep failing: a person should know. */
  readonly onHopeless: (dependency: string, record: BreakerRecord) => Promise<void>;
}

/** One breaker per dependency, in the Store: every session and every process meets the same one. */
export class CircuitBreaker {
  readonly #parts: BreakerParts;

  constructor(parts: BreakerParts) {
    this.#parts = parts;
  }

  use(dependency: string): BreakerUse {
    return { dependency, owner: newId(), policy: this.#parts.policy };
  }

  admit(use: BreakerUse): Promise<Admission> {
    return this.#parts.breakers.admit(use);
  }

  /** The error for a call that is refused and does not wait. */
  refusal(dependency: string, retryAt: number): CircuitOpen {
    return new CircuitOpen(
      `${dependency} is not called: its breaker is open until ${new Date(retryAt).toISOString()}.`,
      {
        details: { dependency, retryAt },
        advice: [
          advise("It is tried again by itself then."),
          advise("To try now", "breakers", "reset", dependency),
        ],
      },
    );
  }

  /** Makes the call. A probe keeps its turn as long as its call lives, and gives it back if nothing came of it. */
  async attend<T>(use: BreakerUse, call: () => Promise<T>): Promise<T> {
    if (use.isProbe !== true) return call();
    const over = new AbortController();
    void this.#renew(use, over.signal);
    try {
      return await call();
    } catch (error) {
      // If it cannot be given back, it runs out.
      await this.#parts.breakers.end({ use, outcome: { kind: "unknown" } }).catch(() => undefined);
      throw error;
    } finally {
      over.abort();
    }
  }

  async #renew(use: BreakerUse, signal: AbortSignal): Promise<void> {
    const { breakers, clock, policy } = this.#parts;
    try {
      for (;;) {
        await clock.sleep(policy.probeDeadlineMs / renewalsPerDeadline, signal);
        if ((await breakers.admit(use)).kind !== "probe") return;
      }
    } catch {
      // The call has ended, or the turn runs out.
    }
  }

  /** For noticing that it changed; that a probe still lives is no change. */
  async stateOf(dependency: string): Promise<string> {
    const { state, notBefore } = await this.#parts.breakers.read(dependency);
    return JSON.stringify([state.kind === "half-open" ? { ...state, deadline: 0 } : state, notBefore]);
  }

  /** To be called when the outcome was committed, whatever it was committed with. */
  async ended({ dependency }: BreakerUse, outcome: CallOutcome): Promise<void> {
    if (outcome.kind !== "outage") return;
    const record = await this.#parts.breakers.read(dependency);
    if (raisesTicket(record)) await this.#parts.onHopeless(dependency, record);
  }

  /**
   * For the calls of trackers, which are no step of a session: refused at once while the breaker is open. Raises no
   * ticket: one about a tracker that is down would wait for that very tracker, and arrive when it is up again.
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
    await this.#parts.breakers.end({ use, outcome });
    if (answer.status === "rejected") throw answer.reason;
    return answer.value;
  }
}

/** The AI SDK's names for an answer that came and is of no use. Only the call is repeated, as after an outage. */
const uselessAnswers: ReadonlySet<string | undefined> = new Set([
  "AI_NoContentGeneratedError",
  "AI_NoOutputGeneratedError",
]);

/** The meaning of a failure for the dependency. A wrong answer is an answer; a rate limit is no outage. */
export function outcomeOfCall(failure: Failure | undefined): CallOutcome {
  // A call that its caller abandoned says nothing about the service.
  if (failure?.code === callAbandoned) return { kind: "unknown" };
  if (failure?.category === "RATE_LIMIT") return { kind: "rate-limit", retryAfterMs: failure.retryAfterMs };
  return failure?.outage && !uselessAnswers.has(failure.code) ? { kind: "outage" } : { kind: "success" };
}
