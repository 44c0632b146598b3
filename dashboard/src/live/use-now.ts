import { useSyncExternalStore } from "react";
import { currentTick, onTick } from "./clock.ts";

/** The shared clock: the component is drawn again once a second. */
export const useNow = (): number => useSyncExternalStore(onTick, currentTick);
