/** The table of providers for the front doors. Not in `machine.ts`: its types are public, and these name packages. */
export { isProvider, isReady, knownProviders } from "../personas/model/known-providers.ts";
