// One session with a long history and a fresh one take turns, so that both use the disk at the same speed; its limit is
// measured before and after each.
import { report } from "../child.ts";
import { DiskLimit, type Window } from "../limit.ts";
import type { Turn } from "../measure-growth.ts";
import { mean } from "../statistics.ts";
import { openState, stepsTeam } from "../workload.ts";

const [stateDir = "", limitDir = "", ...numbers] = process.argv.slice(2);
const [farStep = 10_000, turns = 8, stepsPerTurn = 100] = numbers.map(Number);
const nearStep = 100;
/** Steps before the timed ones, for both, so that threads that were idle are awake again. */
const leadSteps = nearStep - stepsPerTurn / 2;
const limitMs = 15;

const maestro = await openState(stateDir);
const limit = new DiskLimit(limitDir);
const done: Window<Turn>[] = [];
const begin = farStep - stepsPerTurn / 2;
const turnLength = leadSteps + stepsPerTurn;
let nearMs = 0;
let turnBegan = 0;
let limits: number[] = [];
const team = stepsTeam(begin + turns * turnLength + 1, async (index) => {
  const inTurn = (index - begin + leadSteps) % turnLength;
  if (index < begin - leadSteps) return;
  if (inTurn === leadSteps) turnBegan = performance.now();
  if (inTurn !== 0) return;
  const farMs = (performance.now() - turnBegan) / stepsPerTurn;
  const between = limit.measure(limitMs);
  if (index > begin) done.push({ value: { nearMs, farMs }, limit: mean([...limits, between]) });
  nearMs = await measureFresh();
  limits = [between, limit.measure(limitMs)];
});
await (await maestro.start(team, { brief: "far" })).result();
limit.close();
await maestro.close();
report(done);

/** The mean cost of a step around the 100th of a session. */
async function measureFresh(): Promise<number> {
  let began = 0;
  let ended = 0;
  const fresh = stepsTeam(leadSteps + stepsPerTurn + 1, (index) => {
    if (index === leadSteps) began = performance.now();
    if (index === leadSteps + stepsPerTurn) ended = performance.now();
  });
  await (await maestro.start(fresh, { brief: "near" })).result();
  return (ended - began) / stepsPerTurn;
}
