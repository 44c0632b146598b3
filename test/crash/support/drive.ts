import { open } from "../../../src/maestro.ts";
import { type ArmedFault, armFault } from "../../../src/state/fault-points.ts";
import { clockAhead } from "./later.ts";
import { type TeamName, teams, type World } from "./teams.ts";

/** A process that is killed: starts a session by its key, or goes on with it, and prints how it ended. */
export interface DriveOptions extends World {
  readonly stateDir: string;
  readonly team: TeamName;
  readonly fault?: ArmedFault | undefined;
  /** Between attempts and between rounds. */
  readonly delayMs?: number | undefined;
  readonly leaseMs?: number | undefined;
  readonly breaker?: { readonly threshold: number; readonly cooldownMs: number } | undefined;
  /** How much later than now this process lives. */
  readonly laterMs?: number | undefined;
}

const options = JSON.parse(process.argv[2] ?? "") as DriveOptions;
const { stateDir, team, fault, delayMs = 5, breaker, leaseMs, laterMs = 0, ...world } = options;
armFault(fault);
process.send?.("ready");
const delays = { baseDelayMs: delayMs, maxDelayMs: delayMs };
const maestro = await open({
  stateDir,
  attempts: delays,
  rounds: delays,
  clock: clockAhead(laterMs),
  ...(breaker !== undefined && { breaker }),
  ...(leaseMs !== undefined && { leaseMs }),
});
const session = await maestro.start(teams[team](world), { brief: "Build a bridge.", key: team });
const { id: _, ...ending } = await session.result();
console.log(JSON.stringify(ending));
await maestro.close();
