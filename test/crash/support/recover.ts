import { flushCompileCache } from "node:module";
import type { JiraOptions } from "../../../src/tickets/jira.ts";
import { clockAhead } from "./later.ts";
import { open } from "./package.ts";
import { type TeamName, teams } from "./teams.ts";
import type { World } from "./worker.ts";

/** A process that takes up what others left, for as long as it lives. */
export interface RecoverOptions extends World {
  readonly stateDir: string;
  readonly team: TeamName;
  readonly leaseMs?: number | undefined;
  /** How much later than now this process lives. */
  readonly laterMs?: number | undefined;
  /** Where requests for help go; a file unless it is given. */
  readonly jira?: JiraOptions | undefined;
}

const options = JSON.parse(process.argv[2] ?? "") as RecoverOptions;
const { stateDir, team, leaseMs, laterMs = 0, jira, ...world } = options;
// Who is killed would leave nothing for the next one.
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
