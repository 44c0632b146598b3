import { hash } from "node:crypto";
import { canonicalJson } from "../domain/canonical.ts";
import { InputInvalid } from "../domain/errors.ts";
import type { Json } from "../domain/json.ts";
import { type Divergence, Divergences } from "./divergence.ts";
import type { RecordedRow, StepKind } from "./journal.ts";
import { outageBody } from "./journal-codec.ts";
import type { RecordedStep, StepIdentity } from "./recorded-step.ts";
import type { StepBodyCache } from "./step-body-cache.ts";
import { isSelected, isWithin, type SeqRange, type StepSelection } from "./step-selection.ts";

const maxNameLength = 200;

/** Gives each step of an attempt its identity. Requesting the same work again is its next occurrence. */
export class StepIdentities {
  readonly #personaInput: string;
  readonly #occurrences = new Map<string, number>();

  constructor(personaInput: string) {
    this.#personaInput = personaInput;
  }

  next(kind: StepKind, name: string, input: Json, isOnce = false): StepIdentity {
    if (typeof name !== "string" || name.length === 0 || name.length > maxNameLength) throw badName(name);
    const identifying = isOnce ? onceText(kind, name, input) : this.#identifying(kind, name, input);
    const fingerprint = hash("sha256", identifying).slice(0, 32);
    const key = kind === "function" ? fingerprint : kind + fingerprint;
    const occurrence = (this.#occurrences.get(key) ?? 0) + 1;
    this.#occurrences.set(key, occurrence);
    return { fingerprint, occurrence };
  }

  /** A function may read anything that its persona reads. Every other kind depends only on its input. */
  #identifying(kind: StepKind, name: string, input: Json): string {
    if (kind !== "function" && kind !== "wait") return `${kind} ${canonicalInput(name, input)}`;
    // The name as JSON, so that it cannot pose as a name and an input.
    const own = input === null ? "" : canonicalInput(name, input);
    return `${this.#personaInput} ${JSON.stringify(name)} ${own}`;
  }
}

/** Excludes everything that the persona reads: the effect happened, whatever the persona reads when it asks again. */
const onceText = (kind: StepKind, name: string, input: Json): string =>
  `once ${kind} ${JSON.stringify(name)} ${input === null ? "" : canonicalInput(name, input)}`;

/** An input that JSON cannot represent would merge two steps: the second would get the result of the first. */
export function canonicalInput(name: string, input: Json): string {
  try {
    return canonicalJson(input);
  } catch (cause) {
    if (!InputInvalid.is(cause)) throw cause;
    const { message, advice, details } = cause;
    throw new InputInvalid(`The input of step "${name}" is not JSON: ${message}.`, {
      advice,
      details,
      cause,
    });
  }
}

const badName = (name: unknown): InputInvalid =>
  new InputInvalid(
    `A step needs a name of 1 to ${maxNameLength} characters, not ${JSON.stringify(name)?.slice(0, 80)}.`,
  );

/** Each repetition of a call waits under its own identity. */
export const repeatOf = ({ fingerprint, occurrence }: StepIdentity, repeats: number): StepIdentity => ({
  fingerprint: hash("sha256", `repeat ${fingerprint} ${occurrence}`).slice(0, 32),
  occurrence: repeats,
});

/**
 * The recorded steps that one attempt replays, found by kind, fingerprint and occurrence. Order does not matter, so
 * parallel steps may be requested in another order.
 */
export class RecordedSteps {
  readonly #steps = new Map<string, RecordedStep>();
  readonly #divergences = new Divergences();
  /** Steps of this process, as pairs of first and last seq, which bounds the memory of a long attempt. */
  readonly #live: readonly number[];
  #asked = 0;

  constructor(live: readonly number[] = []) {
    this.#live = live;
  }

  add(step: RecordedStep): void {
    this.#steps.set(keyOf(step.kind, step.fingerprint, step.occurrence), step);
    this.#divergences.add(step);
  }

  /** How often a record was requested. */
  get asked(): number {
    return this.#asked;
  }

  find(kind: string, fingerprint: string, occurrence: number): RecordedStep | undefined {
    this.#asked += 1;
    return this.#steps.get(keyOf(kind, fingerprint, occurrence));
  }

  /** Reuses the step's record. Unused records with its name from an earlier driver become suspicious. */
  use(step: RecordedStep): void {
    step.used = true;
    this.#divergences.suspect(step, step.epoch);
  }

  /** No record matches. Unused records with the name become suspicious. */
  miss(kind: string, name: string, fingerprint: string): void {
    if (this.#steps.size === 0) return;
    this.#divergences.suspect({ kind, name, fingerprint }, Number.POSITIVE_INFINITY);
  }

  /** A record made after a step whose input has changed may rest on the old input and must not be reused. */
  suspicionBefore(seq: number): Divergence | undefined {
    const first = this.#divergences.first();
    return first !== undefined && first.step.seq < seq ? first : undefined;
  }

  /** The steps that were requested again or ran in this process, as ranges of seq. */
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
    this.#divergences.clear();
    const before = [...this.#steps.values()];
    this.#steps.clear();
    for (const step of before) if (isWithin(ranges, step.seq)) this.add(step);
  }

  *#liveRanges(): Generator<SeqRange> {
    for (let index = 0; index < this.#live.length; index += 2)
      yield [this.#live[index] as number, this.#live[index + 1] as number];
  }
}

/** Usually the fingerprint itself, because joining texts for thousands of steps takes time. */
function keyOf(kind: string, fingerprint: string, occurrence: number): string {
  return occurrence === 1 && kind === "step.function" ? fingerprint : `${fingerprint} ${kind} ${occurrence}`;
}

/** Rereads rows of the session, both ends inclusive. */
export type ReadRows = (from: number, to: number) => AsyncIterable<readonly RecordedRow[]>;

/** The recorded steps of one session, by attempt. Mutable, so kept beside the state, which only names steps. */
export class StepIndex {
  readonly bodies: StepBodyCache;
  /** Steps of running attempts that were read and not selected yet. */
  readonly #recorded = new Map<number, RecordedStep[]>();
  /** Steps of this process, as pairs of first and last seq. */
  readonly #live = new Map<number, number[]>();

  constructor(bodies: StepBodyCache) {
    this.bodies = bodies;
  }

  addRecorded(row: RecordedRow): void {
    const step = this.#stepOf(row);
    // Keep the body just read, so that a replay does not read the row again.
    this.bodies.keep(step, row.body);
    const known = this.#recorded.get(step.attempt);
    if (known === undefined) this.#recorded.set(step.attempt, [step]);
    else known.push(step);
  }

  /** Whether the attempt's recorded steps were read. */
  knows(attempt: number): boolean {
    return this.#recorded.has(attempt);
  }

  addLive({ attempt, seq }: RecordedRow): void {
    const ranges = this.#liveOf(attempt as number);
    if (ranges.at(-1) === seq - 1) ranges[ranges.length - 1] = seq;
    else ranges.push(seq, seq);
  }

  /** The attempt ended. Its steps are read again if another attempt inherits them. */
  forget(attempt: number): void {
    for (const step of this.#recorded.get(attempt) ?? []) this.bodies.take(step);
    this.#recorded.delete(attempt);
    this.#live.delete(attempt);
  }

  /** The selected steps, from memory if just read, otherwise from the store. Later selections win. */
  async select(
    selections: readonly StepSelection[],
    { read, head, running }: { readonly read: ReadRows; readonly head: number; readonly running?: number },
  ): Promise<RecordedSteps> {
    const selected = new RecordedSteps(running === undefined ? [] : this.#liveOf(running));
    for (const selection of selections) {
      const { attempt } = selection;
      const known = this.#live.has(attempt) && attempt !== running ? undefined : this.#recorded.get(attempt);
      if (known !== undefined) {
        for (const step of known) if (isSelected(selection, step)) selected.add(step);
        this.#recorded.delete(attempt);
      } else if (attempt < head && attempt !== running) {
        for await (const rows of read(attempt, selection.until ?? head))
          this.#select(rows, selection, selected);
      }
    }
    return selected;
  }

  #select(rows: readonly RecordedRow[], selection: StepSelection, selected: RecordedSteps): void {
    for (const row of rows) {
      if (row.attempt !== selection.attempt) continue;
      const step = this.#stepOf(row);
      if (isSelected(selection, step)) selected.add(step);
    }
  }

  #liveOf(attempt: number): number[] {
    let ranges = this.#live.get(attempt);
    if (ranges === undefined) {
      ranges = [];
      this.#live.set(attempt, ranges);
    }
    return ranges;
  }

  #stepOf({ seq, attempt, epoch, kind, name, fingerprint, occurrence, body }: RecordedRow): RecordedStep {
    return {
      seq,
      attempt: attempt as number,
      epoch,
      kind,
      name: name as string,
      fingerprint: fingerprint as string,
      occurrence: occurrence as number,
      outage: body.startsWith(outageBody),
      used: false,
      body: undefined,
    };
  }
}
