import { open } from "../../../src/maestro.ts";
import { type TeamName, teams, type World } from "./teams.ts";

/** A process that takes up what others left, for as long as it lives. */
export interface RecoverOptions extends World {
  readonly stateDir: string;
  readonly team: TeamName;
}

const { stateDir, team, ...world } = JSON.parse(process.argv[2] ?? "") as RecoverOptions;
const delays = { baseDelayMs: 5, maxDelayMs: 10 };
await open({ stateDir, attempts: delays, rounds: delays, recover: true, teams: [teams[team](world)] });
process.on("message", () => {});
process.send?.("looked for the first time");
