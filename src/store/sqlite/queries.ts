import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from "node:sqlite";
import type { SqlQueries } from "../sql/queries.ts";
import { sqliteDialect } from "./sqlite-dialect.ts";
import { translate, wasClosed } from "./sqlite-errors.ts";

export type NamedRow = Record<string, SQLOutputValue>;

/** Reads over one connection. Each statement is prepared once, and errors are those of domain/errors.ts. */
export class Queries implements SqlQueries {
  readonly dialect = sqliteDialect;
  readonly #database: DatabaseSync;
  readonly #path: string;
  readonly #listed = new Map<string, StatementSync>();
  readonly #named = new Map<string, StatementSync>();
  #refusal: Error | undefined;

  constructor(database: DatabaseSync, path: string) {
    this.#database = database;
    this.#path = path;
  }

  /** Makes every later query throw this error. */
  refuse(error: Error): void {
    this.#refusal = error;
  }

  /** Rows as lists of columns, the fastest form. */
  all(sql: string, ...values: SQLInputValue[]): unknown[][] {
    return this.#ask(() => this.#asLists(sql).all(...values)) as unknown as unknown[][];
  }

  get(sql: string, ...values: SQLInputValue[]): unknown[] | undefined {
    return this.#ask(() => this.#asLists(sql).get(...values)) as unknown as unknown[] | undefined;
  }

  allNamed(sql: string, ...values: SQLInputValue[]): NamedRow[] {
    return this.#ask(() => this.#asNamed(sql).all(...values));
  }

  getNamed(sql: string, ...values: SQLInputValue[]): NamedRow | undefined {
    return this.#ask(() => this.#asNamed(sql).get(...values));
  }

  /** Runs several queries on one snapshot, unaffected by concurrent writes. */
  inOneSnapshot<T>(queries: () => T): T {
    if (this.#database.isTransaction) return queries();
    this.#ask(() => this.#database.exec("BEGIN"));
    try {
      return queries();
    } finally {
      this.#ask(() => this.#database.exec("COMMIT"));
    }
  }

  #asLists(sql: string): StatementSync {
    return this.#prepared(this.#listed, sql, (statement) => statement.setReturnArrays(true));
  }

  #asNamed(sql: string): StatementSync {
    return this.#prepared(this.#named, sql);
  }

  #prepared(
    known: Map<string, StatementSync>,
    sql: string,
    setUp?: (statement: StatementSync) => void,
  ): StatementSync {
    let statement = known.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare(sql);
      setUp?.(statement);
      known.set(sql, statement);
    }
    return statement;
  }

  #ask<T>(query: () => T): T {
    if (this.#refusal !== undefined) throw this.#refusal;
    try {
      return query();
    } catch (error) {
      throw this.translate(error);
    }
  }

  /** Translates an error of SQLite to one of domain/errors.ts. */
  translate(error: unknown): unknown {
    return this.#database.isOpen ? translate(error, this.#path) : wasClosed(this.#path, error);
  }
}
