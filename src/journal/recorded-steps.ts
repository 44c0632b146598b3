import { type Suspicion, Suspicions } from "./divergence.ts";
import type { RecordedStep } from "./recorded-step.ts";
import { isWithin, type SeqRange } from "./step-selection.ts";

/** The body of a step that ended in an outage begins like this, so that it is known without parsing. */
export const outageBody = '{"outage":true,';

/**
 * The recorded steps that one attempt replays, found by kind, fingerprint and occurrence. Order does not matter, so steps
 * that ran in parallel may be asked for in another order.
 */
export class RecordedSteps {
  readonly #steps = new Map<string, RecordedStep>();
  readonly #suspicions = new Suspicions();
  /** Steps of this process, as pairs of first and last seq: a long attempt must not fill the memory. */
  readonly #live: readonly number[];

  constructor(live: readonly number[] = []) {
    this.#live = live;
  }

  add(step: RecordedStep): void {
    this.#steps.set(keyOf(step.kind, step.fingerprint, step.occurrence), step);
    this.#suspicions.add(step);
  }

  find(kind: string, fingerprint: string, occurrence: number): RecordedStep | undefined {
    return this.#steps.get(keyOf(kind, fingerprint, occurrence));
  }

  /** Its record serves again. Unused records of its name from an earlier driver become suspicious. */
  use(step: RecordedStep): void {
    step.used = true;
    this.#suspicions.suspect(step, step.epoch);
  }

  /** No record serves: unused records of its name become suspicious. */
  miss(kind: string, name: string, fingerprint: string): void {
    this.#suspicions.suspect({ kind, name, fingerprint }, Number.POSITIVE_INFINITY);
  }

  /** A record made after a step whose input has changed may rest on the old input and must not serve. */
  suspicionBefore(seq: number): Suspicion | undefined {
    const first = this.#suspicions.first();
    return first !== undefined && first.step.seq < seq ? first : undefined;
  }

  /** The steps that were asked for again or ran in this process, as ranges of seq. */
  usedRanges(): [number, number][] {
    const used = [...this.#steps.values()].flatMap(({ used, seq }): SeqRange[] => (used ? [[seq, seq]] : []));
    const ranges: [number, number][] = [];
    for (const [from, to] of [...used, ...this.#liveRanges()].sort(([a], [b]) => a - b)) {
      const last = ranges.at(-1);
      if (last !== undefined && last[1] === from - 1) last[1] = to;
      else ranges.push([from, to]);
    }
    return ranges;
  }

  /** After a divergence: forgets everything outside the ranges. */
  keepOnly(ranges: readonly SeqRange[]): void {
    this.#suspicions.clear();
    const before = [...this.#steps.values()];
    this.#steps.clear();
    for (const step of before) if (isWithin(ranges, step.seq)) this.add(step);
  }

  *#liveRanges(): Generator<SeqRange> {
    for (let index = 0; index < this.#live.length; index += 2)
      yield [this.#live[index] as number, this.#live[index + 1] as number];
  }
}

/** For most steps the fingerprint itself: joining texts for each of thousands takes time. */
function keyOf(kind: string, fingerprint: string, occurrence: number): string {
  return occurrence === 1 && kind === "step.function" ? fingerprint : `${fingerprint} ${kind} ${occurrence}`;
}
