import type { Clock } from "../../domain/clock.ts";
import type { RunStep } from "../../journal/durable-step.ts";
import type { Steps } from "./conversation-errors.ts";

export interface LoopLimits {
  /** Answers of the model in one attempt. */
  readonly maxSteps: number;
  /** Input and output of all of them. */
  readonly maxTokens: number;
  /** How long its answers, tools and checks may take in all; what is replayed or waited for before a call takes no time. */
  readonly maxTimeMs: number;
}

export const defaultLoopLimits: LoopLimits = {
  maxSteps: 50,
  maxTokens: 20_000_000,
  maxTimeMs: 4 * 3_600_000,
};

/** Counts a conversation over all of its loops. */
export class LoopMeter {
  readonly #limits: LoopLimits;
  readonly #clock: Clock;
  #tookMs = 0;
  #before = { steps: 0, tokens: 0 };
  #used = { steps: 0, tokens: 0 };

  constructor(limits: Partial<LoopLimits> | undefined, clock: Clock) {
    this.#limits = { ...defaultLoopLimits, ...limits };
    this.#clock = clock;
  }

  /** Only the effect of a step is timed: waits for a service or a budget do not count. */
  timed(runStep: RunStep): RunStep {
    return (step) =>
      runStep({
        ...step,
        effect: async () => {
          const began = this.#clock.now();
          try {
            return await step.effect();
          } finally {
            this.#tookMs += this.#clock.now() - began;
          }
        },
      });
  }

  /** The next counts come on top of what there is. */
  beginLoop(): void {
    this.#before = this.#used;
  }

  /** All answers of the loop so far. */
  count(steps: Steps): void {
    const tokens = steps.reduce((sum, { usage }) => sum + (usage.totalTokens ?? 0), 0);
    this.#used = { steps: this.#before.steps + steps.length, tokens: this.#before.tokens + tokens };
  }

  /** The limit that is reached, and what to do about it. */
  get problem(): { readonly what: string; readonly advice: string } | undefined {
    const { maxSteps, maxTokens, maxTimeMs } = this.#limits;
    const within = (limit: string): string => `did not submit within ${limit}`;
    if (this.#used.steps >= maxSteps)
      return { what: within(`${maxSteps} answers`), advice: "Do the essential first, then submit." };
    if (this.#used.tokens >= maxTokens)
      return { what: within(`${maxTokens} tokens`), advice: "Read less; do the essential first." };
    if (this.#tookMs >= maxTimeMs)
      return {
        what: within(`${maxTimeMs / 60_000} minutes`),
        advice: "Do the essential first, then submit.",
      };
    return undefined;
  }
}
