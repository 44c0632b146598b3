import type { Labels, Sample } from "./exposition.ts";

/** Bounds the memory: further combinations of labels share one line. */
const mostSeries = 1_000;

export class Counter {
  readonly #series = new Map<string, { readonly labels: Labels; value: number }>();

  add(labels: Labels = {}, value = 1): void {
    const isKnown = this.#series.has(JSON.stringify(labels));
    const counted = isKnown || this.#series.size < mostSeries ? labels : others(labels);
    const key = JSON.stringify(counted);
    const series = this.#series.get(key) ?? { labels: counted, value: 0 };
    series.value += value;
    this.#series.set(key, series);
  }

  samples(): Sample[] {
    return [...this.#series.values()].map(({ labels, value }) => ({ labels, value }));
  }
}

const others = (labels: Labels): Labels =>
  Object.fromEntries(Object.keys(labels).map((name) => [name, "(others)"]));
