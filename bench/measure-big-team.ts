import { runChild } from "./child.ts";
import type { Measurement } from "./measurement.ts";

/** Processor time, because a disk that is busy elsewhere says nothing about how the work grows. */
export interface BigTeam {
  readonly status: string;
  readonly cpuMs: number;
  readonly megabytes: number;
  readonly limit: number;
}

/** A straight line, with what a machine's caches and collectors add to it. */
const tolerance = 1.5;

export const bigTeam: Measurement = {
  name: "big-team",
  async run({ newDirectory, quick }) {
    const [small, large] = quick ? [30, 120] : [100, 1_000];
    const run = async (phases: number): Promise<BigTeam> => {
      const args = [newDirectory(), newDirectory(), phases];
      const { report } = await runChild<BigTeam>("big-team.ts", args);
      if (report.status !== "completed") throw new Error(`the session is ${report.status}`);
      return report;
    };
    const few = await run(small);
    const many = await run(large);
    const times = large / small;
    const time = many.cpuMs / few.cpuMs / times;
    const row = {
      what: `${large.toLocaleString("en")} phases, ${(large * 10).toLocaleString("en")} personas: processor time a persona, against ${small} phases`,
      value: `${(many.cpuMs / large / 10).toFixed(2)} ms, ${(few.cpuMs / small / 10).toFixed(2)} ms; ${many.megabytes.toFixed(0)} MB, ${few.megabytes.toFixed(0)} MB`,
      limit: many.limit,
      ratio: `${time.toFixed(2)} x`,
      target: `a straight line (up to ${tolerance} x)`,
      met: time <= tolerance && many.megabytes - few.megabytes < 10 * times * tolerance,
    };
    return { rows: [row], raw: { few, many } };
  },
};
