import { runChild } from "./child.ts";
import { medianLimit, withLimit } from "./limit.ts";
import type { Measurement } from "./measurement.ts";
import { median } from "./statistics.ts";

const targetMs = 250;

export const start: Measurement = {
  name: "start",
  async run({ newDirectory, quick }) {
    const windows = await withLimit(newDirectory(), { windows: quick ? 3 : 9, limitMs: 100 }, async () => {
      const { report, spawnedAt } = await runChild<{ startedAt: number }>("first-step.mjs", [newDirectory()]);
      return report.startedAt - spawnedAt;
    });
    const startMs = median(windows.map(({ value }) => value));
    const row = {
      what: "process start to first step",
      value: `${startMs.toFixed(0)} ms`,
      limit: medianLimit(windows),
      target: `under ${targetMs} ms`,
      met: startMs < targetMs,
    };
    return { rows: [row], raw: windows };
  },
};
