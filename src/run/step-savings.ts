import type { Saving } from "../domain/ledger.ts";
import type { SavedBy } from "../journal/durable-step.ts";
import type { OfAttempt } from "../journal/journal.ts";

/** The amounts that one attempt did not have to pay, counted with its next row. */
export class StepSavings {
  readonly #of: OfAttempt;
  /** Paid calls of earlier drivers that were answered from their records. */
  #replayedCalls: number[] = [];
  #savings: Saving[] = [];
  /** A field, so that a step that saved nothing does not ask. */
  isEmpty = true;

  constructor(of: OfAttempt) {
    this.#of = of;
  }

  replayed(seq: number): void {
    this.#replayedCalls.push(seq);
    this.isEmpty = false;
  }

  add(saved: SavedBy): void {
    const { phase, persona } = this.#of;
    this.#savings.push({ ...saved, phase, persona });
    this.isEmpty = false;
  }

  /** The amounts saved since the last row. */
  take(): readonly Saving[] | undefined {
    if (this.isEmpty) return undefined;
    this.isEmpty = true;
    const steps = this.#replayedCalls;
    const savings: readonly Saving[] =
      steps.length === 0 ? this.#savings : [...this.#savings, { kind: "resume", steps }];
    this.#savings = [];
    this.#replayedCalls = [];
    return savings;
  }
}
