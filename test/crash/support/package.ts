import type * as Hive from "../../../src/index.ts";
import type * as Testing from "../../../src/testing/index.ts";

/**
 * Kills hit the built package: users run it, and it starts in a third of the time. Types come from the sources, so that
 * a type check needs no build.
 */
const hive: typeof Hive = await import(new URL("../../../dist/index.js", import.meta.url).href);
const testing: typeof Testing = await import(new URL("../../../dist/testing/index.js", import.meta.url).href);

export const { DidNotHappen, defineTeam, durableModel, loadTeam, MaestroError, open, persona, phase } = hive;
export const { armFault } = testing;
