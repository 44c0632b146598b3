import { randomBytes } from "node:crypto";
import { Client } from "pg";
import { inject } from "vitest";

/** The server of this run. Null: this machine has no PostgreSQL, and its tests are skipped. */
export const postgres = inject("postgres");

/** A schema of its own: `address` is that of a store in it. */
export function newSchema() {
  if (postgres === null) throw new Error("this machine has no PostgreSQL");
  const schema = `t_${randomBytes(8).toString("hex")}`;
  const { address } = postgres;
  /** Runs one statement as an administrator, in the schema. */
  const query = async (text: string, values: readonly unknown[] = []) => {
    const client = new Client({ connectionString: address });
    await client.connect();
    try {
      await client.query(`SET search_path = "${schema}"`);
      return (await client.query(text, [...values])).rows as Record<string, unknown>[];
    } finally {
      await client.end();
    }
  };
  return { schema, address: `${address}?schema=${schema}`, query };
}

/** Makes a schema once for all tests of a file: creating two dozen tables takes longer than most tests. */
export function sharedSchema() {
  let shared: ReturnType<typeof newSchema> | undefined;
  return {
    get: () => {
      shared ??= newSchema();
      return shared;
    },
    /** Deletes all rows, for the next test. */
    empty: async () => {
      const tables = await shared?.query(
        "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() AND tablename <> 'formats'",
      );
      const deletions = tables?.map(({ tablename }) => `DELETE FROM ${tablename as string}`) ?? [];
      await shared?.query(`DO $$ BEGIN ${deletions.join("; ")}; END $$`);
    },
  };
}
