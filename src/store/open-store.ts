import { join } from "node:path";
import type { Clock } from "../domain/clock.ts";
import { SqliteStore } from "./sqlite/sqlite-store.ts";
import type { Store } from "./store.ts";

export interface OpenStoreOptions {
  /** The state directory. Undefined: an empty store in memory. */
  readonly directory: string | undefined;
  readonly clock: Clock;
  /** How long a silent driver keeps its lease. */
  readonly leaseMs: number;
  /** The disk cannot be written: every write fails, and reads need none. */
  readonly isReadonly?: boolean;
}

/** The one place that chooses a store. */
export function openStore({ directory, clock, leaseMs, isReadonly = false }: OpenStoreOptions): Store {
  const path = directory === undefined ? ":memory:" : join(directory, "maestro.db");
  return new SqliteStore({ path, clock, leaseMs, onlyLooks: isReadonly });
}
