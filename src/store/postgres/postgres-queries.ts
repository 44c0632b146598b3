import type { QueryResultRow } from "pg";
import type { NamedRow, SqlQueries, SqlValue } from "../sql/queries.ts";
import { postgresDialect } from "./postgres-dialect.ts";
import type { Connection, Server } from "./server.ts";
import { isLost, translate } from "./server-errors.ts";
import { outagePatienceMs, storeClosed } from "./transactions.ts";

const mostConnections = 3;

interface Lane {
  connection: Promise<Connection> | undefined;
  pending: number;
}

/** Reads over a few connections. A read that lost its connection is repeated. */
export class PostgresQueries implements SqlQueries {
  readonly dialect = postgresDialect;
  readonly #server: Server;
  readonly #lanes: Lane[] = [];
  readonly #texts = new Map<string, string>();
  readonly #end = new AbortController();

  constructor(server: Server) {
    this.#server = server;
  }

  async all(sql: string, ...values: SqlValue[]): Promise<unknown[][]> {
    return this.#ask((connection) => connection.lists(this.#numbered(sql), values));
  }

  async get(sql: string, ...values: SqlValue[]): Promise<unknown[] | undefined> {
    return (await this.all(sql, ...values))[0];
  }

  async allNamed(sql: string, ...values: SqlValue[]): Promise<NamedRow[]> {
    return [...(await this.read(this.#numbered(sql), values))];
  }

  async getNamed(sql: string, ...values: SqlValue[]): Promise<NamedRow | undefined> {
    return (await this.allNamed(sql, ...values))[0];
  }

  /** With `$1` for parameters. */
  read<Row extends QueryResultRow>(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    return this.#ask((connection) => connection.query<Row>(text, values));
  }

  async #ask<T>(act: (connection: Connection) => Promise<T>): Promise<T> {
    const deadline = performance.now() + outagePatienceMs;
    for (;;) {
      if (this.#end.signal.aborted) throw storeClosed(this.#server.place);
      const lane = this.#lane();
      lane.pending += 1;
      let connection: Connection | undefined;
      try {
        lane.connection ??= this.#server.connect(deadline - performance.now(), this.#end.signal);
        connection = await lane.connection;
        return await act(connection);
      } catch (error) {
        if (connection === undefined) lane.connection = undefined;
        if (this.#end.signal.aborted) throw storeClosed(this.#server.place);
        if (connection === undefined || !isLost(error) || performance.now() > deadline)
          throw translate(error, this.#server.place);
        const lost = connection;
        // Another read of this lane may have replaced it already.
        if ((await lane.connection?.catch(() => undefined)) === lost) lane.connection = undefined;
        this.#server.abandon(lost);
      } finally {
        lane.pending -= 1;
      }
    }
  }

  async close(): Promise<void> {
    this.#end.abort();
    await Promise.all(
      this.#lanes.map(async ({ connection }) => {
        const open = await connection?.catch(() => undefined);
        await open?.end();
      }),
    );
  }

  /** A free connection, or a new one, or the one with the least to do. */
  #lane(): Lane {
    const free = this.#lanes.find(({ pending }) => pending === 0);
    if (free !== undefined) return free;
    if (this.#lanes.length < mostConnections) {
      const lane = { connection: undefined, pending: 0 };
      this.#lanes.push(lane);
      return lane;
    }
    return this.#lanes.reduce((least, lane) => (lane.pending < least.pending ? lane : least));
  }

  /** `?` and `?1` become `$1`. */
  #numbered(sql: string): string {
    const known = this.#texts.get(sql);
    if (known !== undefined) return known;
    let count = 0;
    const text = sql.replaceAll(/\?(\d*)/g, (_, number: string) => `$${number === "" ? ++count : number}`);
    this.#texts.set(sql, text);
    return text;
  }
}
