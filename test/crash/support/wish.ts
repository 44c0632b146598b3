import { flushCompileCache } from "node:module";
import type { Maestro, ResumeOptions } from "../../../src/api/open.ts";
import type { ArmedFault } from "../../../src/store/fault-points.ts";
import { armFault, open } from "./package.ts";
import { type TeamName, teams } from "./teams.ts";
import type { World } from "./worker.ts";

/** A process that performs a person's action, and is killed at it or prints how it ended. */
export interface WishOptions extends World {
  readonly stateDir: string;
  readonly team: TeamName;
  readonly wish: Wish;
  readonly fault?: ArmedFault | undefined;
}

/** `session`: id or key; the key of a started session is the team's name. */
export type Wish =
  | { readonly do: "start"; readonly until: string }
  | {
      readonly do: "resume";
      readonly session: string;
      readonly edits?: NonNullable<ResumeOptions["edits"]>;
      readonly acceptChanges?: true;
      readonly note?: string;
    }
  /** A fork that runs to its end. */
  | {
      readonly do: "fork";
      readonly session: string;
      readonly key: string;
      readonly at: string;
      readonly edits?: NonNullable<ResumeOptions["edits"]>;
      readonly fresh?: true;
      readonly repeatEffects?: true;
    };

const { stateDir, team: name, wish, fault, ...world } = JSON.parse(process.argv[2] ?? "") as WishOptions;
armFault(fault);
// A killed process does not write its compile cache, and the next one would start slowly.
flushCompileCache();
const quick = { baseDelayMs: 5, maxDelayMs: 5 };
const team = teams[name](world);
const maestro = await open({ stateDir, attempts: quick, rounds: quick, teams: [team] });
const session = await fulfill(maestro);
const { id: _, ...ending } = await session.result();
console.log(JSON.stringify(ending));
await maestro.close();

async function fulfill(maestro: Maestro) {
  if (wish.do === "start")
    return maestro.start(team, { brief: "Build a bridge.", key: name, until: wish.until });
  if (wish.do === "resume") {
    const { do: _, session, ...preparation } = wish;
    return maestro.resume(session, { team, ...preparation });
  }
  const { do: _, session, ...options } = wish;
  const fork = await maestro.fork(session, options);
  return maestro.resume(fork.id);
}
