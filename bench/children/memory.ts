// The peak memory of a process that runs one session with this many steps.
import { report } from "../child.ts";
import { diskBytes, peakMemoryMegabytes } from "../resources.ts";
import { openState, stepsTeam } from "../workload.ts";

const [stateDir = "", steps = "1000"] = process.argv.slice(2);
const maestro = await openState(stateDir);
let drivingMegabytes = 0;
const team = stepsTeam(Number(steps), (index) => {
  if (index === Number(steps) - 1) drivingMegabytes = peakMemoryMegabytes();
});
await (await maestro.start(team, { brief: "memory" })).result();
const resultMegabytes = peakMemoryMegabytes();
await maestro.close();
report({ drivingMegabytes, resultMegabytes, diskBytesPerStep: diskBytes(stateDir) / Number(steps) });
