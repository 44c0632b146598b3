import { open } from "../../../src/maestro.ts";
import { type ArmedFault, armFault } from "../../../src/state/fault-points.ts";
import { type TeamName, teams, type World } from "./teams.ts";

/** A process that is killed: starts a session by its key, or goes on with it, and prints how it ended. */
export interface DriveOptions extends World {
  readonly stateDir: string;
  readonly team: TeamName;
  readonly fault?: ArmedFault | undefined;
  /** Between attempts and between rounds. */
  readonly delayMs?: number | undefined;
}

const { stateDir, team, fault, delayMs = 5, ...world } = JSON.parse(process.argv[2] ?? "") as DriveOptions;
armFault(fault);
process.send?.("ready");
const delays = { baseDelayMs: delayMs, maxDelayMs: delayMs };
const maestro = await open({ stateDir, attempts: delays, rounds: delays });
const session = await maestro.start(teams[team](world), { brief: "Build a bridge.", key: team });
const { id: _, ...ending } = await session.result();
console.log(JSON.stringify(ending));
await maestro.close();
