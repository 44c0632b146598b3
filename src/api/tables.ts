/**
 * The provider and tool tables for the CLI and the server. They are not in `machine.ts`, whose types are public,
 * because these name packages.
 */
export { isProvider, isReady, knownProviders } from "../personas/model/provider-table.ts";
export { namedTools } from "../personas/tools/tool-table.ts";
