import type * as Hive from "../src/index.ts";

export type { Maestro, Session, Team } from "../src/index.ts";

/** The built package; its types come from the sources, so that a type check needs no build. */
const built: typeof Hive = await import(new URL("../dist/index.js", import.meta.url).href);

export const { defineTeam, durableModel, open, persona, phase } = built;
