import { join } from "node:path";
import { runChild } from "./child.ts";
import { medianLimit, withLimit } from "./limit.ts";
import type { Measurement, Row } from "./measurement.ts";
import { median } from "./statistics.ts";

const mostGrowth = 1.3;

/** A resume reads only what the unfinished part needs, so steps of sealed phases must not make it longer. */
export const sealed: Measurement = {
  name: "sealed",
  async run({ newDirectory, quick }) {
    const counts = quick ? [1_000, 10_000] : [1_000, 10_000, 100_000, 1_000_000];
    const rows: Row[] = [];
    const raw: unknown[] = [];
    let first: number | undefined;
    for (const count of counts) {
      const windows = await withLimit(newDirectory(), { windows: 1, limitMs: 300 }, () =>
        resumeBehind(newDirectory(), count, quick ? 1 : 4),
      );
      const resumeMs = median(windows.flatMap(({ value }) => value));
      first ??= resumeMs;
      const growth = resumeMs / first;
      rows.push({
        what: `resume behind ${count.toLocaleString("en")} steps of a sealed phase, to the next step`,
        value: `${resumeMs.toFixed(0)} ms`,
        limit: medianLimit(windows),
        ratio: `${growth.toFixed(2)} x the first`,
        target: `up to ${mostGrowth} x`,
        met: growth <= mostGrowth,
      });
      raw.push({ count, windows });
    }
    return { rows, raw };
  },
};

/** The session is written once; each resume dies where the first one did, so that the next one has the same to do. */
async function resumeBehind(directory: string, count: number, resumes: number): Promise<number[]> {
  const state = join(directory, "state");
  await runChild("sealed.mjs", [state, "write", count], { dies: true });
  const times: number[] = [];
  for (let resume = 0; resume < resumes; resume += 1) {
    const { report, spawnedAt } = await runChild<{ reachedAt: number }>(
      "sealed.mjs",
      [state, "resume", count],
      { dies: true },
    );
    times.push(report.reachedAt - spawnedAt);
  }
  return times;
}
