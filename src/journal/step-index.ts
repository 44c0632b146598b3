import type { RecordedRow } from "./journal.ts";
import type { RecordedStep } from "./recorded-step.ts";
import { outageBody, RecordedSteps } from "./recorded-steps.ts";
import type { StepBodyCache } from "./step-body-cache.ts";
import { isSelected, type StepSelection } from "./step-selection.ts";

/** Reads rows of the session again, from and to inclusive. */
export type ReadRows = (from: number, to: number) => AsyncIterable<readonly RecordedRow[]>;

/** The recorded steps of one session, by attempt. Mutable, and so beside the state: the state only names steps. */
export class StepIndex {
  readonly bodies: StepBodyCache;
  /** Steps of running attempts that were read back and not selected yet. */
  readonly #recorded = new Map<number, RecordedStep[]>();
  /** Steps of this process, as pairs of first and last seq. */
  readonly #live = new Map<number, number[]>();

  constructor(bodies: StepBodyCache) {
    this.bodies = bodies;
  }

  addRecorded(row: RecordedRow): void {
    const step = this.#stepOf(row);
    // A history that was just read need not be read again row by row.
    this.bodies.keep(step, row.body);
    const known = this.#recorded.get(step.attempt);
    if (known === undefined) this.#recorded.set(step.attempt, [step]);
    else known.push(step);
  }

  /** Whether its recorded steps were read. */
  knows(attempt: number): boolean {
    return this.#recorded.has(attempt);
  }

  addLive({ attempt, seq }: RecordedRow): void {
    const ranges = this.#liveOf(attempt as number);
    if (ranges.at(-1) === seq - 1) ranges[ranges.length - 1] = seq;
    else ranges.push(seq, seq);
  }

  /** The attempt ended: its steps are read again should another attempt inherit them. */
  forget(attempt: number): void {
    for (const step of this.#recorded.get(attempt) ?? []) this.bodies.take(step);
    this.#recorded.delete(attempt);
    this.#live.delete(attempt);
  }

  /** The selected steps, from memory where they were just read, else from the store. Later selections win. */
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
