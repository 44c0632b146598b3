import { runChild } from "./child.ts";
import type { Measurement } from "./measurement.ts";

/** Processor time, because a busy disk says nothing about how the work grows. */
export interface BigTeam {
  readonly status: string;
  readonly cpuMs: number;
  readonly megabytes: number;
  readonly limit: number;
}

/** Linear growth, with tolerance for caches and garbage collection. */
const tolerance = 1.5;
/** Tolerance for garbage that is not collected yet. */
const spareMegabytes = 16;

export const bigTeam: Measurement = {
  name: "big-team",
  async run({ newDirectory, quick }) {
    const [small, half, large] = quick ? [30, 75, 120] : [100, 550, 1_000];
    const run = async (phases: number): Promise<BigTeam> => {
      const args = [newDirectory(), newDirectory(), phases];
      const { report } = await runChild<BigTeam>("big-team.ts", args);
      if (report.status !== "completed") throw new Error(`the session is ${report.status}`);
      return report;
    };
    const few = await run(small);
    const middle = await run(half);
    const many = await run(large);
    const times = large / small;
    // With linear growth the second half adds as much as the first.
    const added = many.megabytes - middle.megabytes;
    const straight = Math.max(0, middle.megabytes - few.megabytes) * tolerance + spareMegabytes;
    const time = many.cpuMs / few.cpuMs / times;
    const row = {
      what: `${large.toLocaleString("en")} phases, ${(large * 10).toLocaleString("en")} personas: processor time a persona, against ${small} phases`,
      value: `${(many.cpuMs / large / 10).toFixed(2)} ms, ${(few.cpuMs / small / 10).toFixed(2)} ms; ${many.megabytes.toFixed(0)} MB, ${middle.megabytes.toFixed(0)} MB at half, ${few.megabytes.toFixed(0)} MB`,
      limit: many.limit,
      ratio: `${time.toFixed(2)} x`,
      target: `a straight line (up to ${tolerance} x)`,
      met: time <= tolerance && added <= straight,
    };
    return { rows: [row], raw: { few, middle, many } };
  },
};
