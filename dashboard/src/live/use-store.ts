import { useSyncExternalStore } from "react";
import type { Store } from "./store.ts";

export const useStore = <Value>(store: Store<Value>): Value =>
  useSyncExternalStore(store.subscribe, store.get);
