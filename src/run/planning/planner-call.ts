import type { ReservationId } from "../../domain/ledger.ts";
import type { Spend } from "../../domain/usage.ts";
import type { DurableStep } from "../../journal/durable-step.ts";
import type { Effects } from "../../store/store.ts";
import { outcomeOfCall } from "../circuit-breaker.ts";
import type { Drive } from "../drive.ts";
import type { CallPlace } from "../spending.ts";

/** A plan is not worth a long wait: the rules answer at once. */
const patienceMs = 60_000;

/** No persona can have this name, so planning is counted apart from the personas. */
const planner = "(planning)";
const place: CallPlace = { phase: planner, persona: planner, round: 1, attempt: 1, started: 0 };

/**
 * The one call of a session that no persona makes. It is reserved in every budget and behind the breaker like any other,
 * but it does not wait for the breaker, and for the minute of its provider only while a plan is worth it. It is settled with the row of the plan.
 */
export class PlannerCall {
  readonly signal: AbortSignal;
  readonly #drive: Pick<Drive, "breaker" | "spending" | "clock" | "control">;
  #effects: Effects = {};

  constructor(drive: Pick<Drive, "breaker" | "spending" | "clock" | "control">) {
    this.#drive = drive;
    this.signal = AbortSignal.any([drive.control.signal, AbortSignal.timeout(patienceMs)]);
  }

  /** For the row of the plan; empty when the call was never made. */
  get effects(): Effects {
    return this.#effects;
  }

  readonly runStep = async <T>({ dependency, spend, effect }: DurableStep<T>): Promise<T> => {
    const { breaker, spending, clock, control } = this.#drive;
    if (dependency === undefined || spend === undefined)
      throw new Error("a model call names its dependency and its spend");
    const { output: _, ...whole } = spend;
    const reservation = await this.#reserve(whole);
    const use = breaker.use(dependency);
    const admission = await breaker.admit(use);
    if (admission.kind === "refused") {
      // Never sent, so it must not look like a call whose answer was lost.
      await spending.release(reservation);
      throw breaker.refusal(dependency, admission.retryAt);
    }
    const ended = async (
      end: Parameters<typeof spend.spent>[0],
      failure?: Parameters<typeof outcomeOfCall>[0],
    ) => {
      const settlement = { reservation, spent: await spend.spent(end), failed: "error" in end };
      // A call that is stopped from outside proves nothing about the model.
      const call = control.signal.aborted ? undefined : { use, outcome: outcomeOfCall(failure) };
      this.#effects = { settlement, call };
    };
    try {
      const result = await effect();
      await ended({ result });
      return result;
    } catch (error) {
      const { classifyError } = await import("../failure/classify-error.ts");
      await ended({ error }, classifyError(error, clock.now()));
      throw error;
    }
  };

  async #reserve(spend: Spend<never>): Promise<ReservationId> {
    const { clock, spending } = this.#drive;
    for (;;) {
      const answer = await spending.reserve(place, spend, this.signal);
      if (answer.kind === "granted") return answer.reservation;
      await clock.sleep(Math.max(1, answer.until - clock.now()), this.signal);
    }
  }

  /** Called after the effects are recorded. */
  async recorded(): Promise<void> {
    const { call, settlement } = this.#effects;
    const { breaker, spending } = this.#drive;
    if (settlement !== undefined) await spending.settled(place);
    if (call !== undefined) await breaker.ended(call.use, call.outcome);
  }
}
