// One session with a long history and a fresh one take turns, so that both meet the same disk.
import { report } from "../child.ts";
import { openState, stepsTeam } from "../workload.ts";

const [stateDir = "", ...numbers] = process.argv.slice(2);
const [farStep = 10_000, turns = 8, stepsPerTurn = 100] = numbers.map(Number);
const nearStep = 100;

const maestro = await openState(stateDir);
const far: number[] = [];
const near: number[] = [];
const begin = farStep - stepsPerTurn / 2;
let turnBegan = 0;
const team = stepsTeam(begin + turns * stepsPerTurn + 1, async (index) => {
  if (index < begin || (index - begin) % stepsPerTurn !== 0) return;
  if (index > begin) far.push((performance.now() - turnBegan) / stepsPerTurn);
  near.push(await measureFresh());
  turnBegan = performance.now();
});
await (await maestro.start(team, { brief: "far" })).result();
await maestro.close();
report({ nearMs: near.slice(0, far.length), farMs: far });

/** The mean cost of a step around the 100th of a session. */
async function measureFresh(): Promise<number> {
  const from = nearStep - stepsPerTurn / 2;
  let began = 0;
  let ended = 0;
  const fresh = stepsTeam(from + stepsPerTurn + 1, (index) => {
    if (index === from) began = performance.now();
    if (index === from + stepsPerTurn) ended = performance.now();
  });
  await (await maestro.start(fresh, { brief: "near" })).result();
  return (ended - began) / stepsPerTurn;
}
