import { flushCompileCache } from "node:module";
import type { ArmedFault } from "../../../src/store/fault-points.ts";
import { clockAhead } from "./later.ts";
import { armFault, open } from "./package.ts";
import type { TrackerSettings } from "./trackers.ts";

/** A process that delivers due tickets, and is killed at it. */
export interface DeliverOptions {
  readonly stateDir: string;
  /** The tracker of tickets; a file by default. */
  readonly tracker?: TrackerSettings;
  readonly fault?: ArmedFault | undefined;
  /** How far the clock of this process is ahead. */
  readonly laterMs: number;
}

const { stateDir, tracker, fault, laterMs } = JSON.parse(process.argv[2] ?? "") as DeliverOptions;
armFault(fault);
flushCompileCache();
process.send?.("ready");
const maestro = await open({ stateDir, clock: clockAhead(laterMs), ...tracker });
await maestro.deliverTickets();
await maestro.close();
