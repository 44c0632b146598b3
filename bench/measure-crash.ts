import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runChild } from "./child.ts";
import { medianLimit, withLimit } from "./limit.ts";
import type { Measurement } from "./measurement.ts";
import { median } from "./statistics.ts";

const targetMs = 300;

export const crash: Measurement = {
  name: "crash",
  async run({ newDirectory, quick }) {
    const steps = quick ? 2_000 : 10_000;
    const windows = await withLimit(newDirectory(), { windows: quick ? 1 : 3, limitMs: 300 }, () =>
      killAndResume(newDirectory(), steps),
    );
    const limit = medianLimit(windows);
    const resumeMs = median(windows.map(({ value }) => value.resumeMs));
    const ranAgain = windows.reduce((sum, { value }) => sum + value.ranAgain, 0);
    const done = steps.toLocaleString("en");
    const rows = [
      {
        what: `kill -9 with ${done} steps done, to the next step`,
        value: `${resumeMs.toFixed(0)} ms`,
        limit,
        target: `under ${targetMs} ms`,
        met: resumeMs < targetMs,
      },
      {
        what: "recorded steps run again after the crash",
        value: String(ranAgain),
        limit,
        target: "0",
        met: ranAgain === 0,
      },
    ];
    return { rows, raw: windows };
  },
};

/** The step that the kill interrupts has no record and does run twice; no other may. */
async function killAndResume(
  directory: string,
  steps: number,
): Promise<{ resumeMs: number; ranAgain: number }> {
  const sideFile = join(directory, "side-file");
  const state = join(directory, "state");
  await runChild("crash.mjs", [state, sideFile, "crash", steps], { dies: true });
  const { report, spawnedAt } = await runChild<{ reachedAt: number }>("crash.mjs", [
    state,
    sideFile,
    "resume",
    steps,
  ]);
  const ran = readFileSync(sideFile, "utf8").trim().split("\n");
  return { resumeMs: report.reachedAt - spawnedAt, ranAgain: ran.length - (steps + 1) - 1 };
}
