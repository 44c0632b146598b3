import type { DatabaseSync } from "node:sqlite";

/** Maximum per slice: others wait for the lock meanwhile, and their leases must not expire. */
const slicePages = 500;

/**
 * Inside a transaction, returns one slice of free pages to the disk if that is worthwhile. True if there are more.
 * VACUUM would copy the whole database under the lock, and no process could beat meanwhile.
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

/** Must run outside a transaction. */
export function shortenLog(database: DatabaseSync): void {
  try {
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  } catch {
    // Another process is writing. The log is reused anyway.
  }
}
