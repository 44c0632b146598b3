import { flushCompileCache } from "node:module";
import type { DeliveryOrder } from "../../../src/domain/delivery-order.ts";
import type { ArmedFault } from "../../../src/store/fault-points.ts";
import type { JiraOptions } from "../../../src/tickets/jira.ts";
import { clockAhead, type FastTime, fastClock } from "./later.ts";
import { armFault, open } from "./package.ts";
import { type TeamName, teams } from "./teams.ts";
import type { World } from "./worker.ts";

/** A process that starts or resumes a session by its key, and is killed or prints how it ended. */
export interface DriveOptions extends World {
  readonly stateDir: string;
  readonly team: TeamName;
  readonly fault?: ArmedFault | undefined;
  /** Between attempts and between rounds. */
  readonly delayMs?: number | undefined;
  readonly leaseMs?: number | undefined;
  readonly breaker?: { readonly threshold: number; readonly cooldownMs: number } | undefined;
  /** How far the clock of this process is ahead. */
  readonly laterMs?: number | undefined;
  /** Instead: the speed of the clock of this process. */
  readonly time?: FastTime | undefined;
  /** The tracker of tickets; a file by default. */
  readonly jira?: JiraOptions | undefined;
  readonly brief?: string | undefined;
  /** A file with the answers of the simulated model. */
  readonly script?: string | undefined;
  /** A repository that the session works on. */
  readonly repo?: string | undefined;
  /** How it is delivered at its end. */
  readonly deliver?: DeliveryOrder | undefined;
}

const options = JSON.parse(process.argv[2] ?? "") as DriveOptions;
const { stateDir, team, fault, delayMs = 5, breaker, leaseMs, laterMs = 0, jira, ...rest } = options;
const { brief = "Build a bridge.", repo, deliver, time, script, ...world } = rest;
armFault(fault);
// A killed process does not write its compile cache, and the next one would start slowly.
flushCompileCache();
process.send?.("ready");
const delays = { baseDelayMs: delayMs, maxDelayMs: delayMs };
const maestro = await open({
  stateDir,
  attempts: delays,
  rounds: delays,
  clock: time === undefined ? clockAhead(laterMs) : fastClock(time),
  ...(breaker !== undefined && { breaker }),
  ...(leaseMs !== undefined && { leaseMs }),
  ...(jira !== undefined && { jira }),
  ...(script !== undefined && { script }),
});
const source = repo === undefined ? {} : { source: { git: repo } };
const delivery = deliver === undefined ? {} : { deliver };
const session = await maestro.start(teams[team](world), { brief, key: team, ...source, ...delivery });
const { id: _, ...ending } = await session.result();
console.log(JSON.stringify(ending));
await maestro.close();
