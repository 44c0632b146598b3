import type { RecordedRow } from "./journal.ts";
import { keepBody } from "./kept-bodies.ts";
import type { RecordedStep } from "./recorded-step.ts";
import { type Suspicion, Suspicions } from "./suspicions.ts";

/** How the body of a step begins that an outage ended; known without parsing it. */
export const outageBody = '{"outage":true,';

export type SeqRange = readonly [from: number, to: number];

/**
 * The recorded steps of one attempt, found again by kind, fingerprint and occurrence. Order does not matter, so steps
 * that ran at the same time may be asked for in another order.
 */
export class RecordedSteps {
  readonly #steps = new Map<string, RecordedStep>();
  readonly #suspicions = new Suspicions();
  /** Steps that ran in this process, as pairs of first and last seq: a long attempt must not fill the memory. */
  readonly #live: number[] = [];
  /** What has to be read back before anybody asks; see `unread`. */
  #unread: readonly SeqRange[] = [];
  /** Whose rows they are, where steps of others lie between them. */
  #attempts: ReadonlySet<number> | undefined;

  /** Everything that these attempts recorded, read back when somebody asks. */
  static of(attempts: readonly number[]): RecordedSteps {
    const steps = new RecordedSteps();
    if (attempts.length === 0) return steps;
    steps.#attempts = new Set(attempts);
    steps.#unread = [[Math.min(...attempts), Number.MAX_SAFE_INTEGER]];
    return steps;
  }

  /** Those that a fork brought with it: rows that name the one of their persona. */
  static from(inherited: number): RecordedSteps {
    const steps = new RecordedSteps();
    steps.#attempts = new Set([inherited]);
    return steps;
  }

  /** The rows that own them: of attempts, or of what a fork knows of a persona. */
  get owners(): ReadonlySet<number> {
    return this.#attempts ?? new Set();
  }

  /** `used`: it ran just now, so nobody asks for it again, unless another attempt inherits it. */
  add(row: RecordedRow, used: boolean): void {
    if (used) this.#addLive(row.seq);
    else this.#addRecorded(row);
  }

  #addLive(seq: number): void {
    if (this.#live.at(-1) === seq - 1) this.#live[this.#live.length - 1] = seq;
    else this.#live.push(seq, seq);
  }

  #addRecorded({ seq, position, epoch, kind, name, fingerprint, occurrence, body }: RecordedRow): void {
    const step: RecordedStep = {
      seq,
      position,
      epoch,
      kind,
      name: name as string,
      fingerprint: fingerprint as string,
      outage: body.startsWith(outageBody),
      used: false,
      kept: undefined,
    };
    // A history that was just read need not be read again row by row.
    keepBody(step, body);
    this.#set(keyOf(kind, step.fingerprint, occurrence as number), step);
  }

  find(kind: string, fingerprint: string, occurrence: number): RecordedStep | undefined {
    return this.#steps.get(keyOf(kind, fingerprint, occurrence));
  }

  /** Its record serves again. Records of its name that an earlier driver left unasked become suspicious. */
  use(step: RecordedStep): void {
    step.used = true;
    this.#suspicions.suspect(step, step.epoch);
  }

  /** No record serves: those of its name that nobody has asked for become suspicious. */
  miss(kind: string, name: string, fingerprint: string): void {
    this.#suspicions.suspect({ kind, name, fingerprint }, Number.POSITIVE_INFINITY);
  }

  /** What was recorded after a step whose input has changed may rest on the old input and must not serve again. */
  suspicionBefore(seq: number): Suspicion | undefined {
    const first = this.#suspicions.first();
    return first !== undefined && first.step.seq < seq ? first : undefined;
  }

  /** The rows of all that is at hand. */
  *seqs(): Generator<number> {
    for (const { seq } of this.#steps.values()) yield seq;
  }

  /** For an attempt that goes on where another ended: everything but the step that ended it, and outages. */
  inherit(failedStep: number | undefined): RecordedSteps {
    const heir = new RecordedSteps();
    for (const [key, step] of this.#steps) {
      if (!step.outage && step.seq !== failedStep) heir.#set(key, anew(step));
    }
    heir.#unread = [...this.#liveRanges()].flatMap((range) => without(range, failedStep));
    return heir;
  }

  /**
   * With what was left before, what may serve an attempt that begins anew because it reads something else: paid calls, and
   * steps of functions (`functions`) where nothing but its input was theirs. Tools and checks look again. No attempt is given
   * up by the driver that ran it, so everything is at hand.
   */
  leave(before: RecordedSteps | undefined, { functions }: { readonly functions: boolean }): RecordedSteps {
    const left = new RecordedSteps();
    if (before !== undefined) for (const [key, step] of before.#steps) left.#set(key, step);
    const serves = functions ? /^step\.(?:model|command|function)$/ : /^step\.(?:model|command)$/;
    for (const [key, step] of this.#steps)
      if (!step.outage && serves.test(step.kind)) left.#set(key, anew(step));
    return left;
  }

  /** Ranges of seq whose rows the heir of a live attempt has to be given: they were not kept in memory. */
  get unread(): readonly SeqRange[] {
    return this.#unread;
  }

  /** The rows of `unread`, and perhaps others; those count that belong to it. */
  giveUnread(rows: readonly RecordedRow[]): void {
    for (const row of rows) {
      const belongs =
        row.fingerprint !== null &&
        (this.#attempts?.has(row.attempt ?? 0) ?? true) &&
        isWithin(this.#unread, row.seq);
      if (belongs && !row.body.startsWith(outageBody)) this.#addRecorded(row);
    }
  }

  allGiven(): void {
    this.#unread = [];
  }

  /** The steps that were asked for again, as ranges of seq. */
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

  *#liveRanges(): Generator<SeqRange> {
    for (let index = 0; index < this.#live.length; index += 2)
      yield [this.#live[index] as number, this.#live[index + 1] as number];
  }

  /** After a divergence: everything outside the ranges is forgotten. */
  keepOnly(ranges: readonly SeqRange[]): void {
    this.#suspicions.clear();
    const before = Array.from(this.#steps);
    this.#steps.clear();
    for (const [key, step] of before) {
      if (isWithin(ranges, step.seq)) this.#set(key, step);
    }
  }

  #set(key: string, step: RecordedStep): void {
    this.#steps.set(key, step);
    this.#suspicions.add(step);
  }
}

/** For another attempt; its body is read again, should that ask for it. */
const anew = (step: RecordedStep): RecordedStep => ({ ...step, used: false, kept: undefined });

/** The ranges are in order and apart, as `usedRanges` gives them. */
function isWithin(ranges: readonly SeqRange[], seq: number): boolean {
  let [low, high] = [0, ranges.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const [from, to] = ranges[middle] as SeqRange;
    if (seq < from) high = middle - 1;
    else if (seq > to) low = middle + 1;
    else return true;
  }
  return false;
}

function without([from, to]: SeqRange, seq: number | undefined): SeqRange[] {
  if (seq === undefined || seq < from || seq > to) return [[from, to]];
  const ranges: SeqRange[] = [
    [from, seq - 1],
    [seq + 1, to],
  ];
  return ranges.filter(([first, last]) => first <= last);
}

/** For most steps the fingerprint as it is: joining texts for each of thousands takes time. */
function keyOf(kind: string, fingerprint: string, occurrence: number): string {
  return occurrence === 1 && kind === "step.function" ? fingerprint : `${fingerprint} ${kind} ${occurrence}`;
}
