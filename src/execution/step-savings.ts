import type { SavedBy } from "../domain/durable-step.ts";
import type { Saving } from "../domain/ledger.ts";

/** What the steps of one attempt did not have to pay; counted with the next row that is written. */
export class StepSavings {
  readonly #of: { readonly phase: string; readonly persona: string };
  /** Paid calls of earlier drivers that were answered from their records. */
  readonly #replayed: number[] = [];
  readonly #saved: Saving[] = [];

  constructor(of: { readonly phase: string; readonly persona: string }) {
    this.#of = of;
  }

  replayed(seq: number): void {
    this.#replayed.push(seq);
  }

  save(saved: SavedBy): void {
    const { phase, persona } = this.#of;
    this.#saved.push({ ...saved, phase, persona });
  }

  take(): readonly Saving[] | undefined {
    if (this.#saved.length === 0 && this.#replayed.length === 0) return undefined;
    const replayed = this.#replayed.splice(0);
    const resumed: readonly Saving[] = replayed.length === 0 ? [] : [{ kind: "resume", steps: replayed }];
    return [...this.#saved.splice(0), ...resumed];
  }
}
