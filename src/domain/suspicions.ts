import type { RecordedStep } from "./recorded-step.ts";

/** A record that seems left over: its name was asked for with another input. */
export interface Suspicion {
  readonly step: RecordedStep;
  /** The fingerprint its name was asked for with. */
  readonly asked: string;
}

/** Records of one name that are not suspicious yet. */
interface Namesakes {
  /** In the order they were recorded, so of growing epochs; those before `next` were looked at. */
  readonly steps: RecordedStep[];
  next: number;
  /** Looked at and left alone, because their input was the one asked for, or they are not older. */
  held: RecordedStep[];
  /** The input of all that are held, where they have the same. */
  heldInput: string | undefined;
}

/** Which records seem left over. Each record is moved a few times in all, not looked at by every step that is asked for. */
export class Suspicions {
  readonly #byTitle = new Map<string, Namesakes>();
  /** A heap: the first was recorded first. Those that were used after all are dropped when they come up. */
  readonly #found: Suspicion[] = [];

  add(step: RecordedStep): void {
    const namesakes = this.#byTitle.get(step.title);
    if (namesakes !== undefined) namesakes.steps.push(step);
    else this.#byTitle.set(step.title, { steps: [step], next: 0, held: [], heldInput: undefined });
  }

  /** The name was asked for with this input: what an epoch before this one recorded with another becomes suspicious. */
  suspect(title: string, asked: string, beforeEpoch: number): void {
    const namesakes = this.#byTitle.get(title);
    if (namesakes === undefined) return;
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

  /** The first one that nobody has asked for. */
  first(): Suspicion | undefined {
    while (this.#found[0]?.step.used) this.#pop();
    return this.#found[0];
  }

  clear(): void {
    this.#byTitle.clear();
    this.#found.length = 0;
  }

  #push(suspicion: Suspicion): void {
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

function seqAt(heap: readonly Suspicion[], at: number): number {
  return heap[at]?.step.seq ?? Number.POSITIVE_INFINITY;
}

function swap(heap: Suspicion[], a: number, b: number): void {
  [heap[a], heap[b]] = [heap[b] as Suspicion, heap[a] as Suspicion];
}
