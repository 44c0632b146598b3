import { hash } from "node:crypto";
import { closeSync, openSync, readFileSync, statfsSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { StateTooNew, StateUnavailable } from "../../domain/errors.ts";
import { besideCode, packageFile } from "../../package-files.ts";
import { reach } from "../fault-points.ts";
import type { DatabaseFiles } from "./database-files.ts";
import { damaged, isDamage, translate } from "./sqlite-errors.ts";
import { whenFree } from "./statement.ts";

/** Raised with every change of schema.sql or of a row's body. A database of another format is refused untouched. */
const format = 11;
const openTimeoutMs = 5_000;
/** Log pages before a checkpoint copies them into the database. */
const logPages = 1_000;
/** On a smaller disk, these four megabytes could be missing for a step. */
const plentyOfRoomBytes = 512 * 1024 * 1024;
/** Waits for a commit of another thread or process, but not for a busy one to finish all its writes. */
const growPatienceMs = 100;

/** Opens the database and checks its durability settings: an acknowledged step must survive a power cut. */
export function openDatabase(path: string): DatabaseSync {
  return twiceIfDamaged(() => open(path), path);
}

/** Opens another connection to an open database. Creates nothing, and rejects any other file under its name. */
export function openAgain(path: string, files: DatabaseFiles): DatabaseSync {
  return twiceIfDamaged(() => {
    files.prove();
    const url = pathToFileURL(path);
    url.searchParams.set("mode", "rw");
    const database = setUp(new DatabaseSync(url, { timeout: openTimeoutMs }), path);
    try {
      files.prove();
      return database;
    } catch (error) {
      database.close();
      throw error;
    }
  }, path);
}

/** SQLite reports a read that failed once as damage, so a second read decides. */
function twiceIfDamaged(act: () => DatabaseSync, path: string): DatabaseSync {
  try {
    try {
      return act();
    } catch (error) {
      if (!isDamage(error)) throw error;
      return act();
    }
  } catch (error) {
    throw translate(error, path);
  }
}

function open(path: string): DatabaseSync {
  createPrivately(path);
  return setUp(new DatabaseSync(path, { timeout: openTimeoutMs }), path);
}

function setUp(database: DatabaseSync, path: string): DatabaseSync {
  try {
    refuseOtherFormat(database, path);
    // Must run before anything else is written. On a database in use SQLite would write it into the header at every
    // open.
    if (isEmpty(database)) database.exec("PRAGMA auto_vacuum = INCREMENTAL");
    setJournalMode(database, path);
    setAndAssert(database, "synchronous", 2, path);
    setAndAssert(database, "foreign_keys", 1, path);
    setAndAssert(database, "busy_timeout", openTimeoutMs, path);
    database.exec(`PRAGMA wal_autocheckpoint = ${logPages}`);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * Changing the mode of a new file needs exclusive access, and SQLite does not wait. Several processes may open it
 * first.
 */
function setJournalMode(database: DatabaseSync, path: string): void {
  const mode = path === ":memory:" ? "memory" : "wal";
  whenFree(() => setAndAssert(database, "journal_mode", mode, path), openTimeoutMs);
}

/** For a disk that is full or read-only, where SQLite cannot create the files it shares with other processes. */
export function openForLooking(path: string): DatabaseSync {
  return twiceIfDamaged(() => openToLook(path), path);
}

function openToLook(path: string): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    const url = pathToFileURL(path);
    const hasLog = (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
    // Without a log there is no writer, so the file alone is complete.
    if (!hasLog) url.searchParams.set("immutable", "1");
    database = new DatabaseSync(url, { readOnly: true, timeout: openTimeoutMs });
    const isShared = statSync(`${path}-shm`, { throwIfNoEntry: false }) !== undefined;
    if (hasLog && !isShared) database.exec("PRAGMA locking_mode = EXCLUSIVE");
    refuseOtherFormat(database, path);
    if (version(database) === 0)
      throw new StateUnavailable(`${path} is empty and cannot be written.`, {
        advice: "Make its disk writable, or free some space.",
      });
    refuseOtherSchema(database, path);
    return database;
  } catch (error) {
    database?.close();
    throw error;
  }
}

/**
 * Grows the log to its full length: overwriting costs the disk a third less than extending, and SQLite overwrites
 * the log only after it was full once. Writes a transaction too large for the cache and rolls it back, which leaves
 * only its space.
 */
export function growLog(database: DatabaseSync, path: string): void {
  try {
    const { bavail, bsize } = statfsSync(path);
    if (bavail * bsize < plentyOfRoomBytes) return;
    database.exec(`PRAGMA cache_size = 10; PRAGMA busy_timeout = ${growPatienceMs}; BEGIN IMMEDIATE`);
    database.exec("CREATE TABLE filler (content)");
    database.exec(`INSERT INTO filler VALUES (zeroblob(${logPages * 4_096}))`);
  } catch {
    // Other processes write all the time and extend it, or the disk is full. If it matters, the first commit fails
    // with an error.
  }
  if (database.isTransaction) database.exec("ROLLBACK");
  database.exec("PRAGMA cache_size = -2000");
}

/**
 * Creates the schema of a new database, or proves that the existing one is intact. Other processes may create it at
 * the same time.
 */
export function ensureSchema(database: DatabaseSync, path: string): void {
  try {
    if (version(database) === 0) createSchema(database);
    refuseOtherSchema(database, path);
  } catch (error) {
    // Closing also rolls back and releases the files.
    database.close();
    throw translate(error, path);
  }
}

function createSchema(database: DatabaseSync): void {
  database.exec("BEGIN IMMEDIATE");
  if (version(database) === 0) {
    const { version: maestro } = JSON.parse(readFileSync(packageFile("package.json"), "utf8")) as {
      version: string;
    };
    database.exec(readFileSync(besideCode("store/sqlite/schema.sql"), "utf8"));
    database.prepare("INSERT INTO made_by (version) VALUES (?)").run(maestro);
    database.exec(`PRAGMA application_id = ${schemaChecksum(database)}; PRAGMA user_version = ${format}`);
  }
  reach?.("schema.created:before-commit");
  database.exec("COMMIT");
  reach?.("schema.created:after-commit");
}

/**
 * SQLite keeps no checksums: a flipped byte in the schema page can rename a column, and every statement would then
 * look wrong. So the schema's checksum is stored in the header as the application id.
 */
function refuseOtherSchema(database: DatabaseSync, path: string): void {
  const found = Number(Object.values(database.prepare("PRAGMA application_id").get() ?? {})[0]);
  if (found !== schemaChecksum(database)) throw damaged(path, "its schema is not the one it was made with");
}

function schemaChecksum(database: DatabaseSync): number {
  const rows = database
    .prepare(
      "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat%' ORDER BY name",
    )
    .all();
  const text = rows.map((row) => Object.values(row).join("\n")).join("\n");
  return hash("sha256", text, "buffer").readInt32BE(0);
}

function isEmpty(database: DatabaseSync): boolean {
  return Number(database.prepare("PRAGMA page_count").get()?.["page_count"]) === 0;
}

function version(database: DatabaseSync): number {
  return Number(database.prepare("PRAGMA user_version").get()?.["user_version"]);
}

/**
 * SQLite gives the -wal and -shm files the mode of the database. This only creates: opening and closing a database
 * that this process already has open would drop SQLite's locks.
 */
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

function refuseOtherFormat(database: DatabaseSync, path: string): void {
  // Read before the format: another process may create both meanwhile, in one transaction.
  const isNew = database.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get() === undefined;
  const found = version(database);
  if (found === format || (found === 0 && isNew)) return;
  if (found === 0) throw damaged(path, "it has tables and no format");
  const maker = makerOf(database);
  const details = { found, known: format };
  const message = `${path} has format ${found}; this version of Maestro reads format ${format}.`;
  const advice = `Use ${maker ?? (found > format ? "a newer maestro-hive" : "the development version before 0.1.0 that made it")}, or another state directory. Nothing was written.`;
  if (found > format) throw new StateTooNew(message, { details, advice });
  throw new StateUnavailable(message, { details, advice });
}

/** The version that reads the format, according to the database itself. */
function makerOf(database: DatabaseSync): string | undefined {
  try {
    const version = database.prepare("SELECT version FROM made_by").get()?.["version"];
    return typeof version === "string" ? `maestro-hive ${version}` : undefined;
  } catch {
    return undefined;
  }
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
