import type { DatabaseSync } from "node:sqlite";

/** Outside of a transaction, and only where it is worth it. */
export function reclaimSpace(database: DatabaseSync): void {
  const pages = (name: string) => Number(Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0]);
  try {
    const [free, all] = [pages("freelist_count"), pages("page_count")];
    if (free * 4 > all) database.exec("VACUUM");
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  } catch {
    // Another process writes, or the disk has no room for the copy: free pages are used again all the same.
  }
}
