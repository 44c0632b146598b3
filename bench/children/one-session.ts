// Durable steps of one session. After every hundred, inside a step, the limit is measured. The windows are short, because
// the disk of a shared machine changes its speed within a second.
import { report } from "../child.ts";
import { DiskLimit, type Window } from "../limit.ts";
import { openState, stepsTeam } from "../workload.ts";

const [stateDir = "", windows = "100"] = process.argv.slice(2);
const stepsPerWindow = 100;
const limitMs = 15;
/** Warm-up, until the code is compiled. */
const warmUpWindows = 3;

const maestro = await openState(stateDir);
const limit = new DiskLimit(stateDir);
const done: Window<number>[] = [];
let before = 0;
let began = 0;
const team = stepsTeam((Number(windows) + warmUpWindows) * stepsPerWindow + 1, (index) => {
  if (index % stepsPerWindow !== 0) return;
  const stepsPerSecond = (stepsPerWindow / (performance.now() - began)) * 1_000;
  const after = limit.measure(limitMs);
  if (index > warmUpWindows * stepsPerWindow)
    done.push({ value: stepsPerSecond, limit: (before + after) / 2 });
  before = after;
  began = performance.now();
});
await (await maestro.start(team, { brief: "one session" })).result();
limit.close();
await maestro.close();
report(done);
