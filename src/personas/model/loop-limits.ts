import { fingerprint } from "../../domain/canonical.ts";
import type { Clock } from "../../domain/clock.ts";
import type { Json } from "../../domain/json.ts";
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
        effect: async (allowedOutput) => {
          const began = this.#clock.now();
          try {
            return await step.effect(allowedOutput);
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

  /** Tokens of a call that is no answer of the loop. */
  countAside(tokens: number): void {
    this.#before = { ...this.#before, tokens: this.#before.tokens + tokens };
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

/** So many times the same is no progress. */
const limit = 3;

/** Notices a conversation that goes round in circles, also when other calls are in between. */
export class StuckDetector {
  readonly #seen = new Map<string, number>();
  #problem: string | undefined;

  /** Why the attempt should end. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** `tree`: the files at the time of the call; on other files the same call is another one. */
  succeeded(tool: string, args: Json, tree: string, output: string): void {
    const times = this.#count(["done", tool, args, tree, output]);
    if (times >= limit) this.#problem ??= `made the same ${tool} call ${times} times with the same result`;
  }

  /** The same error, or the same call that fails with another message each time. */
  failed(tool: string, args: Json, tree: string, message: string): void {
    const times = Math.max(
      this.#count(["error", tool, tree, message]),
      this.#count(["failed", tool, args, tree]),
    );
    if (times < limit) return;
    const error = `${tool}: ${message}`.slice(0, 500).toWellFormed();
    this.#problem ??= `met the same error ${times} times: ${error}`;
  }

  #count(what: Json): number {
    const key = fingerprint(what);
    const times = (this.#seen.get(key) ?? 0) + 1;
    this.#seen.set(key, times);
    return times;
  }
}
