import type { RecordedRow } from "./journal.ts";

export interface RecordedStep {
  readonly seq: number;
  readonly position: number;
  /** Kind and name: what a step whose input changed still has in common with its record. */
  readonly title: string;
  readonly fingerprint: string;
  /** Kept while there is room, and only until the step is asked for; the store has it anyway. */
  body: string | undefined;
  /** Its dependency failed it: whoever inherits the steps runs it again. */
  readonly outage: boolean;
  used: boolean;
}

/** How the body of a step begins that an outage ended; known without parsing it. */
export const outageBody = '{"outage":true,';

const keptLimit = 16 * 1024 * 1024;

/**
 * The recorded steps of one attempt, found again by kind, fingerprint and occurrence. Order does not matter, so steps
 * that ran at the same time may be asked for in another order.
 */
export class RecordedSteps {
  readonly #steps = new Map<string, RecordedStep>();
  /** By title, the steps nobody had asked for when somebody first looked: a replay without surprises never does. */
  #leftOver: Map<string, RecordedStep[]> | undefined;
  #keptLength = 0;

  add({ seq, position, kind, name, fingerprint, occurrence, body }: RecordedRow, used: boolean): void {
    const step: RecordedStep = {
      seq,
      position,
      title: `${kind} ${name}`,
      fingerprint: fingerprint as string,
      body: used ? undefined : this.#keep(body),
      outage: body.startsWith(outageBody),
      used,
    };
    this.#steps.set(keyOf(kind, step.fingerprint, occurrence as number), step);
    if (!used) this.#leftOver = undefined;
  }

  /** For an attempt that goes on where another ended: everything but the step that ended it, and outages. */
  inherit(failedStep: number | undefined): RecordedSteps {
    const heir = new RecordedSteps();
    for (const [key, step] of this.#steps) {
      if (!step.outage && step.seq !== failedStep)
        heir.#steps.set(key, { ...step, body: undefined, used: false });
    }
    return heir;
  }

  take(kind: string, fingerprint: string, occurrence: number): RecordedStep | undefined {
    const step = this.#steps.get(keyOf(kind, fingerprint, occurrence));
    if (step !== undefined) step.used = true;
    return step;
  }

  /** A step of the same name that was recorded with another input and has not been asked for. */
  findDiverged(kind: string, name: string): RecordedStep | undefined {
    this.#leftOver ??= Map.groupBy(
      [...this.#steps.values()].filter((step) => !step.used),
      (step) => step.title,
    );
    return this.#leftOver.get(`${kind} ${name}`)?.find((step) => !step.used);
  }

  /** The steps that were asked for again, as ranges of seq. */
  usedRanges(): [number, number][] {
    const seqs = [...this.#steps.values()].flatMap((step) => (step.used ? [step.seq] : []));
    const ranges: [number, number][] = [];
    for (const seq of seqs.sort((a, b) => a - b)) {
      const last = ranges.at(-1);
      if (last !== undefined && last[1] === seq - 1) last[1] = seq;
      else ranges.push([seq, seq]);
    }
    return ranges;
  }

  /** After a divergence: everything outside the ranges is forgotten. */
  keepOnly(ranges: readonly (readonly [number, number])[]): void {
    for (const [key, { seq }] of this.#steps) {
      if (!ranges.some(([from, to]) => seq >= from && seq <= to)) this.#steps.delete(key);
    }
    this.#leftOver = undefined;
  }

  /** A history that was just read need not be read again row by row; a very long one is not held in memory. */
  #keep(body: string): string | undefined {
    if (this.#keptLength + body.length > keptLimit) return undefined;
    this.#keptLength += body.length;
    return body;
  }
}

function keyOf(kind: string, fingerprint: string, occurrence: number): string {
  return `${kind} ${fingerprint} ${occurrence}`;
}
