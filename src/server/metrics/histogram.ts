import type { Labels, Sample } from "./exposition.ts";

export class Histogram {
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;
  #count = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = bounds.map(() => 0);
  }

  observe(value: number): void {
    const index = this.#bounds.findIndex((bound) => value <= bound);
    if (index !== -1) this.#counts[index] = (this.#counts[index] ?? 0) + 1;
    this.#sum += value;
    this.#count += 1;
  }

  samples(labels: Labels = {}): Sample[] {
    let cumulated = 0;
    const buckets = this.#bounds.map((bound, index): Sample => {
      cumulated += this.#counts[index] ?? 0;
      return { suffix: "_bucket", labels: { ...labels, le: String(bound) }, value: cumulated };
    });
    return [
      ...buckets,
      { suffix: "_bucket", labels: { ...labels, le: "+Inf" }, value: this.#count },
      { suffix: "_sum", labels, value: this.#sum },
      { suffix: "_count", labels, value: this.#count },
    ];
  }
}
