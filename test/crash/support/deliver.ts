import { flushCompileCache } from "node:module";
import type { ArmedFault } from "../../../src/store/fault-points.ts";
import { clockAhead } from "./later.ts";
import { armFault, open } from "./package.ts";
import type { TrackerSettings } from "./trackers.ts";

/** A process that brings what is due to the tracker, and is killed at it. */
export interface DeliverOptions {
  readonly stateDir: string;
  /** Where requests for help go; a file unless it is given. */
  readonly tracker?: TrackerSettings;
  readonly fault?: ArmedFault | undefined;
  /** How much later than now this process lives. */
  readonly laterMs: number;
}

const { stateDir, tracker, fault, laterMs } = JSON.parse(process.argv[2] ?? "") as DeliverOptions;
armFault(fault);
flushCompileCache();
process.send?.("ready");
const maestro = await open({ stateDir, clock: clockAhead(laterMs), ...tracker });
await maestro.deliverTickets();
await maestro.close();
