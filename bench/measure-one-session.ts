import { runChild } from "./child.ts";
import { medianLimit, type Window } from "./limit.ts";
import type { Measurement } from "./measurement.ts";
import { median } from "./statistics.ts";

const targetPercent = 60;

export const oneSession: Measurement = {
  name: "one-session",
  async run({ newDirectory, quick }) {
    const windows = quick ? 20 : 150;
    const { report } = await runChild<Window<number>[]>("one-session.ts", [newDirectory(), windows]);
    const percent = median(report.map(({ value, limit }) => (value / limit) * 100));
    const row = {
      what: "durable steps, 1 session",
      value: `${median(report.map(({ value }) => value)).toFixed(0)} /s`,
      limit: medianLimit(report),
      ratio: `${percent.toFixed(0)} %`,
      target: `at least ${targetPercent} % (aim 70)`,
      met: percent >= targetPercent,
    };
    return { rows: [row], raw: report };
  },
};
