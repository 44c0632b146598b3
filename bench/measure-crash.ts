import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runChild } from "./child.ts";
import { medianLimit, withLimit } from "./limit.ts";
import type { Measurement, Row } from "./measurement.ts";
import { median } from "./statistics.ts";

const targetMs = 300;
const targetUsPerStep = 25;
/** A resume behind so few steps takes the time of a start, which is subtracted. */
const fewSteps = 100;

const shapes = {
  named: "",
  same: ", all of one name",
  changed: ", all with another input now: to the first that runs afresh",
} as const;

export const crash: Measurement = {
  name: "crash",
  async run({ newDirectory, quick }) {
    const steps = quick ? 2_000 : 10_000;
    const rows: Row[] = [];
    const raw: unknown[] = [];
    // The first process fills the compile cache, so that every measured process finds it.
    await killAndResume(newDirectory(), 10, "named");
    for (const shape of Object.keys(shapes) as (keyof typeof shapes)[]) {
      const windows = await withLimit(newDirectory(), { windows: quick ? 1 : 5, limitMs: 300 }, () =>
        killAndResume(newDirectory(), steps, shape),
      );
      const limit = medianLimit(windows);
      const resumeMs = median(windows.map(({ value }) => value.resumeMs));
      const ranAgain = windows.reduce((sum, { value }) => sum + value.ranAgain, 0);
      rows.push({
        what: `kill -9 with ${steps.toLocaleString("en")} steps done, to the next step${shapes[shape]}`,
        value: `${resumeMs.toFixed(0)} ms`,
        limit,
        target: `under ${targetMs} ms`,
        met: resumeMs < targetMs,
      });
      if (shape !== "changed")
        rows.push({
          what: `recorded steps run again after the crash${shapes[shape]}`,
          value: String(ranAgain),
          limit,
          target: "0",
          met: ranAgain === 0,
        });
      raw.push({ shape, windows });
      if (shape === "named") rows.push(await perStep(newDirectory, resumeMs, steps, quick ? 1 : 5));
    }
    return { rows, raw };
  },
};

async function perStep(
  newDirectory: () => string,
  resumeMs: number,
  steps: number,
  windows: number,
): Promise<Row> {
  const few = await withLimit(newDirectory(), { windows, limitMs: 300 }, () =>
    killAndResume(newDirectory(), fewSteps, "named"),
  );
  const startMs = median(few.map(({ value }) => value.resumeMs));
  const usPerStep = ((resumeMs - startMs) * 1_000) / (steps - fewSteps);
  return {
    what: "a recorded step of the running attempt, read by that resume",
    value: `${usPerStep.toFixed(0)} µs`,
    limit: medianLimit(few),
    target: `up to ${targetUsPerStep} µs`,
    met: usPerStep <= targetUsPerStep,
  };
}

/** The step that the kill interrupts has no record and runs twice; no other may. */
async function killAndResume(
  directory: string,
  steps: number,
  shape: keyof typeof shapes,
): Promise<{ resumeMs: number; ranAgain: number }> {
  const sideFile = join(directory, "side-file");
  const state = join(directory, "state");
  const run = (mode: string) => [state, sideFile, mode, steps, shape];
  await runChild("crash.mjs", run("crash"), { dies: true });
  const { report, spawnedAt } = await runChild<{ reachedAt: number }>("crash.mjs", run("resume"));
  const ran = readFileSync(sideFile, "utf8").trim().split("\n");
  return { resumeMs: report.reachedAt - spawnedAt, ranAgain: ran.length - (steps + 1) - 1 };
}
