// Sessions that all wait inside a step, as they would for a model.
import { report } from "../child.ts";
import { peakMemoryMegabytes } from "../resources.ts";
import { runTogether } from "../together.ts";
import { openState } from "../workload.ts";

const [stateDir = "", sessions = "10000"] = process.argv.slice(2);
const maestro = await openState(stateDir);
void runTogether(
  maestro,
  { sessions: Number(sessions), steps: 1 },
  {
    onAllAtWork: () => {
      report({ peakMegabytes: peakMemoryMegabytes() });
      process.exit(0);
    },
  },
);
