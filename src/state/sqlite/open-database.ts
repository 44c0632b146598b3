import { closeSync, openSync, readdirSync, readFileSync, statfsSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { StateTooNew, StateUnavailable } from "../../domain/errors.ts";
import { besideCode } from "../../package-files.ts";
import { reach } from "../fault-points.ts";
import { translate } from "./sqlite-errors.ts";
import { whenFree } from "./write-lock.ts";

const migrationsFolder = "state/sqlite/migrations/";
const openTimeoutMs = 5_000;
/** Pages of log before they are carried into the database. */
const logPages = 1_000;
/** On a disk with less, four megabytes for speed might be the ones that are missing for a step. */
const plentyOfRoomBytes = 512 * 1024 * 1024;
/** For a commit of another thread or process, not for all that a busy one has to write. */
const growPatienceMs = 100;

/** Opens with durability asserted, not assumed: a step that is acknowledged must survive a power cut. */
export function openDatabase(path: string): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    createPrivately(path);
    database = new DatabaseSync(path, { timeout: openTimeoutMs });
    refuseNewer(database, path);
    // Before anything else is written; on one that is in use SQLite would write this into its header at every opening.
    if (isEmpty(database)) database.exec("PRAGMA auto_vacuum = INCREMENTAL");
    setJournalMode(database, path);
    setAndAssert(database, "synchronous", 2, path);
    setAndAssert(database, "foreign_keys", 1, path);
    setAndAssert(database, "busy_timeout", openTimeoutMs, path);
    database.exec(`PRAGMA wal_autocheckpoint = ${logPages}`);
    return database;
  } catch (error) {
    database?.close();
    throw translate(error, path);
  }
}

/** Whoever changes the mode of a new file has it alone, and SQLite does not wait for that: several may open it first. */
function setJournalMode(database: DatabaseSync, path: string): void {
  const mode = path === ":memory:" ? "memory" : "wal";
  whenFree(() => setAndAssert(database, "journal_mode", mode, path), openTimeoutMs);
}

/** For a disk that is full or read-only, where SQLite cannot make the files it shares with other processes. */
export function openForLooking(path: string): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    const url = pathToFileURL(path);
    const hasLog = (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
    // Without a log nobody is writing, and the file alone is the truth.
    if (!hasLog) url.searchParams.set("immutable", "1");
    database = new DatabaseSync(url, { readOnly: true, timeout: openTimeoutMs });
    const isShared = statSync(`${path}-shm`, { throwIfNoEntry: false }) !== undefined;
    if (hasLog && !isShared) database.exec("PRAGMA locking_mode = EXCLUSIVE");
    refuseNewer(database, path);
    if (version(database) === listMigrations().length) return database;
    throw new StateUnavailable(`${path} is of an older version and cannot be brought up to date here.`, {
      advice: "Make its disk writable, or free some space.",
    });
  } catch (error) {
    database?.close();
    throw translate(error, path);
  }
}

/**
 * Makes the log as long as it will get: a commit that overwrites costs the disk a third less than one that makes its
 * file longer, and SQLite overwrites the log only after it was full once. Written by a transaction too large for the
 * cache and taken back, which leaves its space and nothing else.
 */
export function growLog(database: DatabaseSync, path: string): void {
  try {
    const { bavail, bsize } = statfsSync(path);
    if (bavail * bsize < plentyOfRoomBytes) return;
    database.exec(`PRAGMA cache_size = 10; PRAGMA busy_timeout = ${growPatienceMs}; BEGIN IMMEDIATE`);
    database.exec("CREATE TABLE filler (content)");
    database.exec(`INSERT INTO filler VALUES (zeroblob(${logPages * 4_096}))`);
  } catch {
    // Others write all the time and make it longer, or the disk is full: the first commit will say so if it matters.
  }
  if (database.isTransaction) database.exec("ROLLBACK");
  database.exec("PRAGMA cache_size = -2000");
}

/** Brings the schema up to date, one numbered file at a time; other processes may be doing the same. */
export function migrate(database: DatabaseSync, path: string): void {
  const migrations = listMigrations();
  try {
    if (version(database) === migrations.length) return;
    database.exec("BEGIN IMMEDIATE");
    for (const [index, file] of migrations.entries()) {
      if (index < version(database)) continue;
      database.exec(readFileSync(besideCode(`${migrationsFolder}${file}`), "utf8"));
      database.exec(`PRAGMA user_version = ${index + 1}`);
    }
    reach("schema.migrated:before-commit");
    database.exec("COMMIT");
    reach("schema.migrated:after-commit");
  } catch (error) {
    // Closing rolls back as well, and lets go of the files.
    database.close();
    throw translate(error, path);
  }
}

function listMigrations(): string[] {
  return readdirSync(besideCode(migrationsFolder))
    .filter((file) => file.endsWith(".sql"))
    .sort();
}

function isEmpty(database: DatabaseSync): boolean {
  return Number(database.prepare("PRAGMA page_count").get()?.["page_count"]) === 0;
}

function version(database: DatabaseSync): number {
  return Number(database.prepare("PRAGMA user_version").get()?.["user_version"]);
}

/** SQLite gives the -wal and -shm files the mode of the database. Only ever creates: opening a database that this
 * process already has open, and closing it again, would drop SQLite's locks on it. */
function createPrivately(path: string): void {
  if (path === ":memory:") return;
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "EEXIST") return;
    throw new StateUnavailable(`${path} cannot be created (${code}).`, {
      cause: error,
      advice: "Check permissions and free space of the state directory, or choose another with --state-dir.",
    });
  }
}

function refuseNewer(database: DatabaseSync, path: string): void {
  const found = version(database);
  const known = listMigrations().length;
  if (found <= known) return;
  throw new StateTooNew(`${path} has format ${found}; this version of Maestro reads up to ${known}.`, {
    details: { found, known },
    advice: "Update maestro-hive, or use another state directory. Nothing was written.",
  });
}

function setAndAssert(database: DatabaseSync, pragma: string, wanted: string | number, path: string): void {
  database.exec(`PRAGMA ${pragma} = ${wanted}`);
  const row = database.prepare(`PRAGMA ${pragma}`).get() ?? {};
  const found = Object.values(row)[0];
  if (found === wanted) return;
  throw new StateUnavailable(
    `${path}: SQLite did not accept ${pragma} = ${wanted}; it stays ${String(found)}.`,
    {
      advice:
        "The file system may not support it (network shares do not). Choose a local disk with --state-dir.",
    },
  );
}
