import type { Clock } from "../../domain/clock.ts";
import type { DurableStep } from "../../journal/durable-step.ts";
import type { Effects } from "../../store/store.ts";
import { type CircuitBreaker, outcomeOfCall } from "../circuit-breaker.ts";
import type { Control } from "../control.ts";
import type { CallPlace, SessionSpending } from "../spending.ts";

/** A plan is worth no long wait: the rules are there at once. */
const patienceMs = 60_000;

/** No persona can have this name: what planning takes is counted apart from what the personas take. */
const planner = "(planning)";
const place: CallPlace = { phase: planner, persona: planner, round: 1, attempt: 1, started: 0 };

export interface PlannerParts {
  readonly control: Control;
  readonly clock: Clock;
  readonly breaker: CircuitBreaker;
  readonly spending: SessionSpending;
}

/**
 * The one call of a session that no persona makes: reserved in every budget and behind the breaker as any other, but
 * nothing waits for either. What it took is settled with the row of what came of it.
 */
export class PlannerCall {
  readonly signal: AbortSignal;
  readonly #parts: PlannerParts;
  #effects: Effects = {};

  constructor(parts: PlannerParts) {
    this.#parts = parts;
    this.signal = AbortSignal.any([parts.control.signal, AbortSignal.timeout(patienceMs)]);
  }

  /** For the row that comes of the call; nothing when it was never made. */
  get effects(): Effects {
    return this.#effects;
  }

  readonly runStep = async <T>({ dependency, spend, effect }: DurableStep<T>): Promise<T> => {
    const { breaker, spending, clock, control } = this.#parts;
    if (dependency === undefined || spend === undefined)
      throw new Error("a call of a model names what it takes");
    const reservation = await spending.reserve(place, spend, this.signal);
    const use = breaker.use(dependency);
    const admission = await breaker.admit(use);
    if (admission.kind === "refused") {
      // Never sent, so it must not look like a call whose answer was lost.
      await spending.release(reservation);
      throw breaker.refusal(dependency, admission.retryAt);
    }
    const ended = (end: Parameters<typeof spend.spent>[0], failure?: Parameters<typeof outcomeOfCall>[0]) => {
      const settlement = { reservation, spent: spend.spent(end), failed: "error" in end };
      // A call that is stopped from outside proves nothing about the model.
      const call = control.signal.aborted ? undefined : { use, outcome: outcomeOfCall(failure) };
      this.#effects = { settlement, call };
    };
    try {
      const result = await effect();
      ended({ result });
      return result;
    } catch (error) {
      const { classifyError } = await import("../failure/classify-error.ts");
      ended({ error }, classifyError(error, clock.now()));
      throw error;
    }
  };

  /** Called after the effects are recorded. */
  async recorded(): Promise<void> {
    const { call, settlement } = this.#effects;
    const { breaker, spending } = this.#parts;
    if (settlement !== undefined) await spending.settled(place);
    if (call !== undefined) await breaker.ended(call.use, call.outcome);
  }
}
