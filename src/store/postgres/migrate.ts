import { readFileSync } from "node:fs";
import { StateTooNew } from "../../domain/errors.ts";
import { besideCode, packageVersion } from "../../package-files.ts";
import { reach } from "../fault-points.ts";
import type { Connection, Server } from "./server.ts";
import { notWritten, translate } from "./server-errors.ts";

/** The files that bring a database from each format to the next, in order. */
const formats = ["schema.sql"] as const;

/** Creates the tables, or brings them to this version's format. A database of a later format is refused untouched. */
export async function ensureSchema(server: Server, schema: string): Promise<void> {
  const connection = await server.connect();
  try {
    if ((await formatOf(connection, schema, server.place)) < formats.length)
      await migrate(connection, schema, server.place);
  } catch (error) {
    throw translate(error, server.place);
  } finally {
    await connection.end();
  }
}

async function formatOf(connection: Connection, schema: string, place: string): Promise<number> {
  // Not to_regclass: behind a wait for the lock it may still answer from a cache.
  const [table] = await connection.query(
    "SELECT 1 FROM pg_tables WHERE schemaname = $1 AND tablename = 'formats'",
    [schema],
  );
  if (table === undefined) return 0;
  const [row] = await connection.query<{ format: number | null }>(
    "SELECT max(format) AS format FROM formats",
  );
  const format = row?.format ?? 0;
  if (format <= formats.length) return format;
  throw new StateTooNew(
    `The database ${place} has format ${format}; this version of Maestro reads up to ${formats.length}.`,
    {
      details: { found: format, known: formats.length },
      advice: "Update maestro-hive here. Nothing was written.",
    },
  );
}

/** Processes that open a new database at the same moment wait for each other. */
async function migrate(connection: Connection, schema: string, place: string): Promise<void> {
  await connection.query("BEGIN");
  try {
    await connection.query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [`maestro ${schema}`]);
    const found = await formatOf(connection, schema, place);
    // A user without the right to create schemas can use one that an administrator created.
    const [known] = await connection.query("SELECT 1 FROM pg_namespace WHERE nspname = $1", [schema]);
    if (known === undefined) await connection.client.query(`CREATE SCHEMA "${schema}"`);
    for (const [at, file] of formats.entries()) {
      if (at < found) continue;
      await connection.client.query(readFileSync(besideCode(`store/postgres/${file}`), "utf8"));
      await connection.query("INSERT INTO formats (format, version) VALUES ($1, $2)", [
        at + 1,
        packageVersion(),
      ]);
    }
    reach?.("schema.created:before-commit");
    await connection.query("COMMIT");
    reach?.("schema.created:after-commit");
  } catch (error) {
    await connection.query("ROLLBACK").catch(() => undefined);
    throw notWritten(error, place);
  }
}
