import { open } from "../../../src/maestro.ts";
import { clockAhead } from "./later.ts";
import { type TeamName, teams, type World } from "./teams.ts";

/** A process that takes up what others left, for as long as it lives. */
export interface RecoverOptions extends World {
  readonly stateDir: string;
  readonly team: TeamName;
  readonly leaseMs?: number | undefined;
  /** How much later than now this process lives. */
  readonly laterMs?: number | undefined;
}

const options = JSON.parse(process.argv[2] ?? "") as RecoverOptions;
const { stateDir, team, leaseMs, laterMs = 0, ...world } = options;
const delays = { baseDelayMs: 5, maxDelayMs: 10 };
await open({
  stateDir,
  attempts: delays,
  rounds: delays,
  recover: true,
  teams: [teams[team](world)],
  clock: clockAhead(laterMs),
  ...(leaseMs !== undefined && { leaseMs }),
});
process.on("message", () => {});
process.send?.("looked for the first time");
