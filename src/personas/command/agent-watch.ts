import type { Budget, BudgetUnit } from "../../domain/budget.ts";
import { type Spent, totalTokens } from "../../domain/usage.ts";
import type { AgentError } from "./agent-error.ts";
import type { AgentReport } from "./agent-events.ts";

export interface ReservePassed {
  readonly kind: "reserve";
  readonly unit: BudgetUnit;
  readonly limit: number;
  readonly used: number;
  readonly error?: undefined;
}

/** Why Maestro ends an agent that would go on. */
export type Stopped = ReservePassed | { readonly kind: "refused"; readonly error: AgentError };

/** Most agents write down an answer a moment after they print it. */
const lookEveryMs = 1000;

/**
 * Watches a running agent, and aborts `signal` when its provider refuses it for good, or when it has taken more than its
 * reserve. What it takes beyond that are the requests that are under way at that moment.
 */
export class AgentWatch {
  readonly #end = new AbortController();
  readonly #reserve: Budget;
  readonly #spent: () => Promise<Spent>;
  readonly #timer: NodeJS.Timeout | undefined;
  #stopped: Stopped | undefined;
  #isLooking = false;

  constructor(reserve: Budget = {}, spent: () => Promise<Spent>) {
    this.#reserve = reserve;
    this.#spent = spent;
    const isLimited = reserve.tokens !== undefined || reserve.microUsd !== undefined;
    if (isLimited) this.#timer = setInterval(() => void this.#look(), lookEveryMs);
  }

  get signal(): AbortSignal {
    return this.#end.signal;
  }

  get stopped(): Stopped | undefined {
    return this.#stopped;
  }

  heard({ refusal }: AgentReport): void {
    if (refusal !== null) this.#stop({ kind: "refused", error: refusal });
    else if (this.#timer !== undefined) void this.#look();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    if (this.#isLooking || this.#stopped !== undefined) return;
    this.#isLooking = true;
    try {
      const passed = passedBy(this.#reserve, await this.#spent());
      if (passed !== undefined) this.#stop(passed);
    } catch {
      // Its files cannot be read now; the next look may.
    } finally {
      this.#isLooking = false;
    }
  }

  #stop(stopped: Stopped): void {
    if (this.#stopped !== undefined) return;
    this.#stopped = stopped;
    this.close();
    this.#end.abort();
  }
}

function passedBy({ tokens, microUsd }: Budget, spent: Spent): ReservePassed | undefined {
  const used = spent.usage === null ? 0 : totalTokens(spent.usage);
  if (tokens !== undefined && used > tokens) return { kind: "reserve", unit: "tokens", limit: tokens, used };
  const cost = spent.costMicroUsd ?? 0;
  if (microUsd !== undefined && cost > microUsd)
    return { kind: "reserve", unit: "usd", limit: microUsd, used: cost };
  return undefined;
}
