// Many sessions write at once. Measured only while all of them write: not while they start, nor after the first ends.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { report } from "../child.ts";
import { withLimit } from "../limit.ts";
import { runTogether, type Together } from "../together.ts";
import { openState } from "../workload.ts";

const [stateDir = "", ...numbers] = process.argv.slice(2);
const [windows = 3, sessions = 100, steps = 50] = numbers.map(Number);
const resolutionMs = 1;
const maestro = await openState(stateDir);
const measured = await withLimit(stateDir, { windows, limitMs: 300 }, async (): Promise<Together> => {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs });
  let counted = 0;
  let began = 0;
  let ended = 0;
  await runTogether(
    maestro,
    { sessions, steps },
    {
      onAllAtWork: () => {
        delay.enable();
        began = performance.now();
      },
      onStep: () => {
        if (began > 0 && ended === 0) counted += 1;
      },
      onFirstDone: () => {
        ended = performance.now();
        delay.disable();
      },
    },
  );
  return {
    stepsPerSecond: (counted / (ended - began)) * 1_000,
    delayP99Ms: delay.percentile(99) / 1e6 - resolutionMs,
    delayMaxMs: delay.max / 1e6 - resolutionMs,
  };
});
await maestro.close();
report(measured);
