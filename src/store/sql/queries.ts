export type SqlValue = string | number | null;
export type NamedRow = Readonly<Record<string, unknown>>;

type Awaitable<T> = T | Promise<T>;

/** Fragments of SQL that databases write differently. */
export interface Dialect {
  /** True if the column is one of the texts in a parameter, which holds them as a JSON array. */
  readonly isListed: (column: string) => string;
  /** Two columns as the JSON text of an array. */
  readonly pair: (one: string, other: string) => string;
  /** The different values of an aggregated column as the JSON text of an array, without the empty text. */
  readonly distinct: (column: string) => string;
  /** A ticket that is due at the time `?1`, or began to wait after it because the clock was set back. */
  readonly isTicketDue: string;
  readonly isTicketDelivered: string;
}

/** Reads of a database, with `?` for parameters. SQLite answers at once, a server later. */
export interface SqlQueries {
  readonly dialect: Dialect;
  /** Rows as lists of columns. */
  all(sql: string, ...values: SqlValue[]): Awaitable<unknown[][]>;
  get(sql: string, ...values: SqlValue[]): Awaitable<unknown[] | undefined>;
  allNamed(sql: string, ...values: SqlValue[]): Awaitable<NamedRow[]>;
  getNamed(sql: string, ...values: SqlValue[]): Awaitable<NamedRow | undefined>;
}
