import type { DatabaseSync } from "node:sqlite";

/** A slice moves no more than this: others wait for the lock meanwhile, and their leases must not run out. */
const slicePages = 500;

/**
 * Inside a transaction: gives one slice of free pages back to the disk where that is worth it; true when there are more.
 * Never all at once: VACUUM copies the whole database under the lock, and no process can beat meanwhile.
 */
export function giveBackSpace(database: DatabaseSync): boolean {
  const pragma = (name: string) => Number(Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0]);
  const incremental = 2;
  if (pragma("auto_vacuum") !== incremental) return false;
  const [free, all] = [pragma("freelist_count"), pragma("page_count")];
  if (free * 4 <= all) return false;
  database.exec(`PRAGMA incremental_vacuum(${slicePages})`);
  return pragma("freelist_count") < free;
}

/** Outside of a transaction. */
export function shortenLog(database: DatabaseSync): void {
  try {
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  } catch {
    // Another process writes: the log is used again all the same.
  }
}
