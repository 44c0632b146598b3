import { runChild } from "./child.ts";
import type { Measurement } from "./measurement.ts";
import { median } from "./statistics.ts";

const targetMs = 250;

export const start: Measurement = {
  name: "start",
  async run({ newDirectory, quick }) {
    const times: number[] = [];
    for (let run = 0; run < (quick ? 3 : 9); run += 1) {
      const { report, spawnedAt } = await runChild<{ startedAt: number }>("first-step.mjs", [newDirectory()]);
      times.push(report.startedAt - spawnedAt);
    }
    const row = {
      what: "process start to first step",
      value: `${median(times).toFixed(0)} ms`,
      target: `under ${targetMs} ms`,
      met: median(times) < targetMs,
    };
    return { rows: [row], raw: times };
  },
};
