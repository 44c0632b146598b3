import type { RecordedRow } from "./journal.ts";

export interface RecordedStep {
  readonly seq: number;
  readonly position: number;
  readonly fingerprint: string;
  /** Kept while there is room, and only until the step is asked for; the store has it anyway. */
  body: string | undefined;
  used: boolean;
}

const keptLimit = 16 * 1024 * 1024;

/**
 * The recorded steps of one attempt, found again by kind, fingerprint and occurrence. Order does not matter, so steps
 * that ran at the same time may be asked for in another order.
 */
export class RecordedSteps {
  /** By kind and fingerprint; the occurrence is the place in the array, counted from 1. */
  readonly #byFingerprint = new Map<string, (RecordedStep | undefined)[]>();
  /** The fingerprints recorded under a name: how a changed input is told from a new step. */
  readonly #byName = new Map<string, Set<string>>();

  #keptLength = 0;

  add({ seq, position, kind, name, fingerprint, occurrence, body }: RecordedRow): void {
    const key = `${kind} ${fingerprint}`;
    const steps = this.#byFingerprint.get(key) ?? [];
    steps[(occurrence as number) - 1] = {
      seq,
      position,
      fingerprint: fingerprint as string,
      body: this.#keep(body),
      used: false,
    };
    this.#byFingerprint.set(key, steps);
    const names = this.#byName.get(`${kind} ${name}`);
    if (names === undefined) this.#byName.set(`${kind} ${name}`, new Set([key]));
    else names.add(key);
  }

  /** A history that was just read need not be read again row by row; a very long one is not held in memory. */
  #keep(body: string): string | undefined {
    if (this.#keptLength + body.length > keptLimit) return undefined;
    this.#keptLength += body.length;
    return body;
  }

  take(kind: string, fingerprint: string, occurrence: number): RecordedStep | undefined {
    const step = this.#byFingerprint.get(`${kind} ${fingerprint}`)?.[occurrence - 1];
    if (step !== undefined) step.used = true;
    return step;
  }

  /** A step of the same name that was recorded with another input and has not been asked for. */
  findDiverged(kind: string, name: string): RecordedStep | undefined {
    for (const key of this.#byName.get(`${kind} ${name}`) ?? []) {
      const unused = this.#byFingerprint.get(key)?.find((step) => step?.used === false);
      if (unused !== undefined) return unused;
    }
    return undefined;
  }

  /** The steps that were asked for again, as ranges of seq. */
  usedRanges(): [number, number][] {
    const seqs = [...this.#byFingerprint.values()]
      .flat()
      .flatMap((step) => (step?.used ? [step.seq] : []))
      .sort((a, b) => a - b);
    const ranges: [number, number][] = [];
    for (const seq of seqs) {
      const last = ranges.at(-1);
      if (last !== undefined && last[1] === seq - 1) last[1] = seq;
      else ranges.push([seq, seq]);
    }
    return ranges;
  }

  /** After a divergence: everything outside the ranges is forgotten. */
  keepOnly(ranges: readonly (readonly [number, number])[]): void {
    const isKept = (step: RecordedStep | undefined) =>
      step !== undefined && ranges.some(([from, to]) => step.seq >= from && step.seq <= to);
    for (const [key, steps] of this.#byFingerprint) {
      this.#byFingerprint.set(
        key,
        steps.map((step) => (isKept(step) ? step : undefined)),
      );
    }
  }
}
