import type { RecordedRow } from "./journal.ts";

export interface RecordedStep {
  readonly seq: number;
  readonly position: number;
  /** Which driver recorded it. */
  readonly epoch: number;
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

/** A record that seems left over: its name was asked for with another input. */
export interface Suspicion {
  readonly step: RecordedStep;
  /** The fingerprint its name was asked for with. */
  readonly asked: string;
}

/**
 * The recorded steps of one attempt, found again by kind, fingerprint and occurrence. Order does not matter, so steps
 * that ran at the same time may be asked for in another order.
 */
export class RecordedSteps {
  readonly #steps = new Map<string, RecordedStep>();
  readonly #byTitle = new Map<string, RecordedStep[]>();
  readonly #suspicions: Suspicion[] = [];
  #keptLength = 0;

  add({ seq, position, epoch, kind, name, fingerprint, occurrence, body }: RecordedRow, used: boolean): void {
    const step: RecordedStep = {
      seq,
      position,
      epoch,
      title: `${kind} ${name}`,
      fingerprint: fingerprint as string,
      body: used ? undefined : this.#keep(body),
      outage: body.startsWith(outageBody),
      used,
    };
    const key = keyOf(kind, step.fingerprint, occurrence as number);
    // Nobody asks for the name of a step that has just run; ten thousand of them need not be looked up by it.
    if (used) this.#steps.set(key, step);
    else this.#set(key, step);
  }

  find(kind: string, fingerprint: string, occurrence: number): RecordedStep | undefined {
    return this.#steps.get(keyOf(kind, fingerprint, occurrence));
  }

  /** Its record serves again. Records of its name that an earlier driver left unasked become suspicious. */
  use(step: RecordedStep): void {
    step.used = true;
    this.#suspect(step.title, step.fingerprint, (other) => other.epoch < step.epoch);
  }

  /** No record serves: those of its name that nobody has asked for become suspicious. */
  miss(kind: string, name: string, fingerprint: string): void {
    this.#suspect(`${kind} ${name}`, fingerprint, () => true);
  }

  /** What was recorded after a step whose input has changed may rest on the old input and must not serve again. */
  suspicionBefore(seq: number): Suspicion | undefined {
    return this.#suspicions.find(({ step }) => !step.used && step.seq < seq);
  }

  /** For an attempt that goes on where another ended: everything but the step that ended it, and outages. */
  inherit(failedStep: number | undefined): RecordedSteps {
    const heir = new RecordedSteps();
    for (const [key, step] of this.#steps) {
      if (!step.outage && step.seq !== failedStep) heir.#set(key, { ...step, body: undefined, used: false });
    }
    return heir;
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
    this.#suspicions.length = 0;
    this.#byTitle.clear();
    const before = Array.from(this.#steps);
    this.#steps.clear();
    for (const [key, step] of before) {
      if (ranges.some(([from, to]) => step.seq >= from && step.seq <= to)) this.#set(key, step);
    }
  }

  #set(key: string, step: RecordedStep): void {
    this.#steps.set(key, step);
    const namesakes = this.#byTitle.get(step.title);
    if (namesakes === undefined) this.#byTitle.set(step.title, [step]);
    else namesakes.push(step);
  }

  #suspect(title: string, asked: string, among: (step: RecordedStep) => boolean): void {
    for (const step of this.#byTitle.get(title) ?? []) {
      if (step.used || step.fingerprint === asked || !among(step)) continue;
      if (!this.#suspicions.some((known) => known.step === step)) this.#suspicions.push({ step, asked });
    }
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
