import { flushCompileCache } from "node:module";
import type { JiraOptions } from "../../../src/tickets/jira.ts";
import { clockAhead } from "./later.ts";
import { open } from "./package.ts";
import { type TeamName, teams } from "./teams.ts";
import type { World } from "./worker.ts";

/** A process that recovers sessions until it ends. */
export interface RecoverOptions extends World {
  readonly stateDir: string;
  readonly team: TeamName;
  readonly leaseMs?: number | undefined;
  /** How far the clock of this process is ahead. */
  readonly laterMs?: number | undefined;
  /** The tracker of tickets; a file by default. */
  readonly jira?: JiraOptions | undefined;
}

const options = JSON.parse(process.argv[2] ?? "") as RecoverOptions;
const { stateDir, team, leaseMs, laterMs = 0, jira, ...world } = options;
// A killed process does not write its compile cache, and the next one would start slowly.
flushCompileCache();
const delays = { baseDelayMs: 5, maxDelayMs: 10 };
await open({
  stateDir,
  attempts: delays,
  rounds: delays,
  recover: true,
  teams: [teams[team](world)],
  clock: clockAhead(laterMs),
  ...(leaseMs !== undefined && { leaseMs }),
  ...(jira !== undefined && { jira }),
});
process.on("message", () => {});
process.send?.("looked for the first time");
