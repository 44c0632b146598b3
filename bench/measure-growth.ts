import { runChild } from "./child.ts";
import type { Measurement } from "./measurement.ts";
import { median } from "./statistics.ts";

/** Turns on a noisy machine differ by more than this among themselves. */
const tolerance = 1.1;

export const growth: Measurement = {
  name: "growth",
  async run({ newDirectory, quick }) {
    const sizes = quick ? [2_000, 4] : [10_000, 12];
    const { report } = await runChild<{ nearMs: number[]; farMs: number[] }>("growth.ts", [
      newDirectory(),
      ...sizes,
    ]);
    const ratio = median(report.farMs) / median(report.nearMs);
    const row = {
      what: `cost per step at step ${sizes[0]?.toLocaleString("en")}, against step 100`,
      value: `${median(report.farMs).toFixed(3)} ms, ${median(report.nearMs).toFixed(3)} ms`,
      ratio: `${ratio.toFixed(2)} x`,
      target: `the same (up to ${tolerance} x)`,
      met: ratio <= tolerance,
    };
    return { rows: [row], raw: report };
  },
};
