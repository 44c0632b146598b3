import type { ArmedFault } from "../../../src/store/fault-points.ts";
import { clockAhead } from "./later.ts";
import { armFault, open } from "./package.ts";

/** A process that performs one action without driving a session, and is killed at it. */
export interface ActOptions {
  readonly stateDir: string;
  readonly act: Act;
  readonly fault?: ArmedFault | undefined;
}

export type Act =
  | { readonly do: "pause"; readonly session: string }
  | { readonly do: "export"; readonly session: string; readonly file: string }
  | { readonly do: "reset breaker"; readonly dependency: string }
  | { readonly do: "prune everything"; readonly laterMs?: number };

const { stateDir, act, fault } = JSON.parse(process.argv[2] ?? "") as ActOptions;
armFault(fault);
const laterMs = act.do === "prune everything" ? (act.laterMs ?? 0) : 0;
const maestro = await open({ stateDir, clock: clockAhead(laterMs) });
if (act.do === "pause") await maestro.pause(act.session);
if (act.do === "export") await maestro.exportCheckpoints(act.session, act.file);
if (act.do === "reset breaker") await maestro.resetBreaker(act.dependency);
if (act.do === "prune everything") await maestro.prune({ keep: 0 });
await maestro.close();
