/** The tables of providers and tools for the front doors. Not in `machine.ts`: its types are public, and these name packages. */
export { isProvider, isReady, knownProviders } from "../personas/model/provider-table.ts";
export { namedTools } from "../personas/tools/tool-table.ts";
