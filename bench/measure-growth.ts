import { runChild } from "./child.ts";
import { medianLimit, type Window } from "./limit.ts";
import type { Measurement } from "./measurement.ts";
import { median } from "./statistics.ts";

/** Turns on a noisy machine differ by more than this among themselves. */
const tolerance = 1.1;

/** Milliseconds per step. */
export interface Turn {
  readonly nearMs: number;
  readonly farMs: number;
}

export const growth: Measurement = {
  name: "growth",
  async run({ newDirectory, quick }) {
    const sizes = quick ? [2_000, 4] : [10_000, 48];
    const { report } = await runChild<Window<Turn>[]>("growth.ts", [
      newDirectory(),
      newDirectory(),
      ...sizes,
    ]);
    const farMs = median(report.map(({ value }) => value.farMs));
    const nearMs = median(report.map(({ value }) => value.nearMs));
    const ratio = farMs / nearMs;
    const row = {
      what: `cost per step at step ${sizes[0]?.toLocaleString("en")}, against step 100`,
      value: `${farMs.toFixed(3)} ms, ${nearMs.toFixed(3)} ms`,
      limit: medianLimit(report),
      ratio: `${ratio.toFixed(2)} x`,
      target: `the same (up to ${tolerance} x)`,
      met: ratio <= tolerance,
    };
    return { rows: [row], raw: report };
  },
};
