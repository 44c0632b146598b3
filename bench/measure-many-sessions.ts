import { runChild } from "./child.ts";
import { medianLimit, type Window } from "./limit.ts";
import type { Measurement, Setup } from "./measurement.ts";
import { median } from "./statistics.ts";
import type { Together } from "./together.ts";

const targetTimes = 4;
const targetDelayMs = 5;

export const manySessions: Measurement = {
  name: "many-sessions",
  async run(setup) {
    const windows = await measure(setup, setup.quick ? [2, 100, 20] : [5, 100, 100]);
    const times = median(windows.map(({ value, limit }) => value.stepsPerSecond / limit));
    const row = {
      what: "durable steps, 100 sessions at once",
      value: `${median(windows.map(({ value }) => value.stepsPerSecond)).toFixed(0)} /s`,
      limit: medianLimit(windows),
      ratio: `${times.toFixed(1)} x`,
      target: `at least ${targetTimes} x`,
      met: times >= targetTimes,
    };
    return { rows: [row], raw: windows };
  },
};

export const loopDelay: Measurement = {
  name: "loop-delay",
  async run(setup) {
    const windows = await measure(setup, setup.quick ? [1, 1_000, 10] : [3, 1_000, 40]);
    const p99 = median(windows.map(({ value }) => value.delayP99Ms));
    const times = median(windows.map(({ value, limit }) => value.stepsPerSecond / limit));
    const row = {
      what: "event-loop delay p99, 1,000 sessions writing",
      value: `${p99.toFixed(1)} ms`,
      limit: medianLimit(windows),
      ratio: `at ${times.toFixed(1)} x`,
      target: `under ${targetDelayMs} ms`,
      met: p99 < targetDelayMs,
    };
    return { rows: [row], raw: windows };
  },
};

async function measure({ newDirectory }: Setup, sizes: readonly number[]): Promise<Window<Together>[]> {
  return (await runChild<Window<Together>[]>("many-sessions.ts", [newDirectory(), ...sizes])).report;
}
