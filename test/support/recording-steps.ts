import { canonicalJson, fingerprint } from "../../src/domain/canonical.ts";
import { toJsonText } from "../../src/domain/json.ts";
import type { Spent } from "../../src/domain/usage.ts";
import type { DurableStep, RunStep } from "../../src/journal/durable-step.ts";

export interface StepRecord {
  readonly kind: string;
  readonly name: string;
  readonly dependency: string | undefined;
  readonly key: string;
  /** Canonical JSON of the step's input. */
  readonly input: string;
  readonly body: string;
}

export interface Settled {
  readonly askedTokens: number;
  readonly askedMicroUsd: number | null;
  /** Under a limit. */
  readonly atMostTokens: number;
  readonly spent: Spent;
}

/** Durable steps in memory: recorded steps are replayed, failed ones run again, as after an outage. */
export class RecordingSteps {
  readonly records: StepRecord[];
  /** Every requested step, replayed or not. */
  readonly asked: StepRecord["input"][] = [];
  readonly failures: unknown[] = [];
  readonly settled: Settled[] = [];
  readonly #occurrences = new Map<string, number>();

  constructor(records: readonly StepRecord[] = []) {
    this.records = [...records];
  }

  readonly runStep: RunStep = async <T>(step: DurableStep<T>): Promise<T> => {
    const { kind, name, dependency, input } = step;
    const print = `${kind} ${fingerprint(input)}`;
    const occurrence = (this.#occurrences.get(print) ?? 0) + 1;
    const key = `${print} ${occurrence}`;
    this.#occurrences.set(print, occurrence);
    this.asked.push(canonicalJson(input));
    const known = this.records.find((record) => record.key === key);
    if (known !== undefined) return JSON.parse(known.body) as T;
    const result = await this.#perform(step, print, occurrence);
    const body = toJsonText(result);
    this.records.push({ kind, name, dependency, key, input: canonicalJson(input), body });
    // Through the record, like a replay.
    return JSON.parse(body) as T;
  };

  /** The records of a process that was killed after this many. */
  after(count: number): RecordingSteps {
    return new RecordingSteps(this.records.slice(0, count));
  }

  async #perform<T>(step: DurableStep<T>, print: string, occurrence: number): Promise<T> {
    try {
      const result = await step.effect();
      await this.#settle(step, { result });
      return result;
    } catch (error) {
      await this.#settle(step, { error });
      this.failures.push(error);
      this.#occurrences.set(print, occurrence - 1);
      throw error;
    }
  }

  async #settle<T>({ spend }: DurableStep<T>, outcome: { result: T } | { error: unknown }): Promise<void> {
    if (spend === undefined) return;
    const { tokens, microUsd } = spend.asked;
    const atMostTokens = spend.atMost?.tokens ?? tokens;
    this.settled.push({
      askedTokens: tokens,
      askedMicroUsd: microUsd,
      atMostTokens,
      spent: await spend.spent(outcome),
    });
  }
}
