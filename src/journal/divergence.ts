import type { RecordedStep } from "./recorded-step.ts";

/** A record that may be outdated: a step with its name was requested with another input. */
export interface Divergence {
  readonly step: RecordedStep;
  /** The fingerprint with which its name was requested. */
  readonly asked: string;
}

/** Records with one name that are not suspicious yet. */
interface Namesakes {
  /** In the order of their rows, so with growing epochs. Those before `next` were compared. */
  readonly steps: RecordedStep[];
  next: number;
  /** Compared and not suspicious: their input was the requested one, or they are not older. */
  held: RecordedStep[];
  /** The input of all held records, if they share it. */
  heldInput: string | undefined;
}

/** Finds outdated records. Each record is compared a few times in total, not once for every requested step. */
export class Divergences {
  /** The record itself if no other has its name, which is the usual case. */
  readonly #byTitle = new Map<string, RecordedStep | Namesakes>();
  /** Sorted by name when a step first misses, which a replay without changes never needs. */
  #unsorted: RecordedStep[] = [];
  #firstEpoch = Number.POSITIVE_INFINITY;
  /** A heap by seq. Records that were used later are dropped when they reach the top. */
  readonly #found: Divergence[] = [];

  add(step: RecordedStep): void {
    this.#unsorted.push(step);
    this.#firstEpoch = Math.min(this.#firstEpoch, step.epoch);
  }

  /**
   * A step with this name and input was requested. Records with the name, another input and an earlier epoch become
   * suspicious.
   */
  suspect(asked: Pick<RecordedStep, "kind" | "name" | "fingerprint">, beforeEpoch: number): void {
    if (beforeEpoch <= this.#firstEpoch) return;
    this.#sort();
    if (this.#byTitle.size === 0) return;
    const namesakes = this.#byTitle.get(titleOf(asked));
    if (namesakes === undefined) return;
    if ("steps" in namesakes) this.#suspectAmong(namesakes, asked.fingerprint, beforeEpoch);
    else this.#suspectOnly(namesakes, asked.fingerprint, beforeEpoch);
  }

  /** Skip steps already replayed. */
  #sort(): void {
    for (const step of this.#unsorted) if (!step.used) this.#sortIn(step);
    this.#unsorted = [];
  }

  #sortIn(step: RecordedStep): void {
    const title = titleOf(step);
    const known = this.#byTitle.get(title);
    if (known === undefined) this.#byTitle.set(title, step);
    else if ("steps" in known) known.steps.push(step);
    else this.#byTitle.set(title, { steps: [known, step], next: 0, held: [], heldInput: undefined });
  }

  #suspectAmong(namesakes: Namesakes, asked: string, beforeEpoch: number): void {
    const { steps, held } = namesakes;
    const isSettled = namesakes.heldInput === asked;
    const still = isSettled ? held : [];
    let isSame = true;
    const judge = (step: RecordedStep): void => {
      if (step.used) return;
      const isOther = step.fingerprint !== asked;
      if (isOther && step.epoch < beforeEpoch) return this.#push({ step, asked });
      isSame &&= !isOther;
      still.push(step);
    };
    if (!isSettled) held.forEach(judge);
    for (; namesakes.next < steps.length; namesakes.next += 1) {
      const step = steps[namesakes.next] as RecordedStep;
      if (step.epoch >= beforeEpoch) break;
      judge(step);
    }
    namesakes.held = still;
    namesakes.heldInput = isSame && still.length > 0 ? asked : undefined;
  }

  #suspectOnly(step: RecordedStep, asked: string, beforeEpoch: number): void {
    if (step.used || step.fingerprint === asked || step.epoch >= beforeEpoch) return;
    this.#byTitle.delete(titleOf(step));
    this.#push({ step, asked });
  }

  /** The first suspicious record that no step has used. */
  first(): Divergence | undefined {
    while (this.#found[0]?.step.used) this.#pop();
    return this.#found[0];
  }

  clear(): void {
    this.#byTitle.clear();
    this.#unsorted = [];
    this.#firstEpoch = Number.POSITIVE_INFINITY;
    this.#found.length = 0;
  }

  #push(suspicion: Divergence): void {
    const heap = this.#found;
    let at = heap.push(suspicion) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (seqAt(heap, parent) <= seqAt(heap, at)) return;
      swap(heap, parent, at);
      at = parent;
    }
  }

  #pop(): void {
    const heap = this.#found;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    heap[0] = last;
    for (let at = 0; ; ) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      const child = seqAt(heap, right) < seqAt(heap, left) ? right : left;
      if (seqAt(heap, child) >= seqAt(heap, at)) return;
      swap(heap, child, at);
      at = child;
    }
  }
}

function titleOf({ kind, name }: Pick<RecordedStep, "kind" | "name">): string {
  return `${kind} ${name}`;
}

function seqAt(heap: readonly Divergence[], at: number): number {
  return heap[at]?.step.seq ?? Number.POSITIVE_INFINITY;
}

function swap(heap: Divergence[], a: number, b: number): void {
  [heap[a], heap[b]] = [heap[b] as Divergence, heap[a] as Divergence];
}
