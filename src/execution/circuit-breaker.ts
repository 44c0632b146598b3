import {
  type Admission,
  type BreakerPolicy,
  type BreakerRecord,
  type CallOutcome,
  raisesTicket,
} from "../domain/breaker.ts";
import { CircuitOpen } from "../domain/errors.ts";
import type { Failure } from "../domain/failure.ts";
import { newId } from "../domain/ids.ts";
import type { BreakerStore, BreakerUse } from "../state/breaker-store.ts";

export interface BreakerParts {
  readonly breakers: BreakerStore;
  readonly policy: BreakerPolicy;
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

  /** For noticing that it changed. */
  async stateOf(dependency: string): Promise<string> {
    return JSON.stringify(await this.#parts.breakers.read(dependency));
  }

  /** To be called when the outcome was committed, whatever it was committed with. */
  async ended({ dependency }: BreakerUse, outcome: CallOutcome): Promise<void> {
    if (outcome.kind !== "outage") return;
    const record = await this.#parts.breakers.read(dependency);
    if (raisesTicket(record)) await this.#parts.onHopeless(dependency, record);
  }

  /** For calls that are no step of a session: refused at once while the breaker is open. */
  async guard<T>(
    dependency: string,
    call: () => Promise<T>,
    outcomeOfError: (error: unknown) => CallOutcome,
  ): Promise<T> {
    const use = this.use(dependency);
    const admission = await this.admit(use);
    if (admission.kind === "refused") throw circuitOpen(dependency, admission.retryAt);
    let outcome: CallOutcome = { kind: "success" };
    try {
      return await call();
    } catch (error) {
      outcome = outcomeOfError(error);
      throw error;
    } finally {
      await this.#parts.breakers.end({ use, outcome });
      await this.ended(use, outcome);
    }
  }
}

/** What a failure says about the dependency. A wrong answer is an answer; a rate limit is no outage. */
export function outcomeOfCall(failure: Failure | undefined): CallOutcome {
  if (failure?.category === "RATE_LIMIT") return { kind: "rate-limit", retryAfterMs: failure.retryAfterMs };
  return failure?.outage ? { kind: "outage" } : { kind: "success" };
}

export function circuitOpen(dependency: string, retryAt: number): CircuitOpen {
  return new CircuitOpen(
    `${dependency} is not called: its breaker is open until ${new Date(retryAt).toISOString()}.`,
    {
      details: { dependency, retryAt },
      advice: `It is tried again by itself then. To try at once: maestro breakers reset ${dependency}`,
    },
  );
}
