import { Store } from "../live/store.ts";

/** Panels that any page, key or command may open; one at a time. */
export type OpenPanel = "none" | "start" | "commands" | "help";

export const openPanel = new Store<OpenPanel>("none");
