import type { QueryResultRow } from "pg";
import { StateUnavailable } from "../../domain/errors.ts";
import type { Connection, Server } from "./server.ts";
import { isConflict, isLost } from "./server-errors.ts";

/** A failover takes half a minute. A server that is gone for good must not hold its callers for ever. */
export const outagePatienceMs = 120_000;
const mostConflicts = 20;

/** Statements of one transaction. It commits when the function that got it returns. */
export interface Transaction {
  read<Row extends QueryResultRow>(text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
  /** Sent without waiting for the statements before. Await its rows after the commit. */
  sent<Row extends QueryResultRow>(text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
  /** Sent without waiting. Its failure is the failure of the transaction. */
  write(text: string, values?: readonly unknown[]): void;
}

/**
 * Runs transactions one after the other on a connection of its own, and survives the loss of it: each transaction
 * stores its number, so that after a reconnect this process knows whether the last one was committed. It is then
 * either done or repeated, and its caller notices nothing.
 */
export class Transactions {
  readonly #server: Server;
  readonly #id: string;
  readonly #end = new AbortController();
  #connection: Connection | undefined;
  /** The number of the last transaction that was committed. */
  #done = 0;
  /** The number that the server had when the connection was made. */
  #stored = 0;
  /** Grows with each connection. A transaction proves its term. */
  #term = 0;

  constructor(server: Server, id: string) {
    this.#server = server;
    this.#id = id;
  }

  /** `act` may run several times, and only the last run counts. */
  async run<T>(act: (transaction: Transaction) => Promise<T>, beforeCommit?: () => void): Promise<T> {
    for (let conflicts = 0; ; ) {
      const connection = await this.#connected();
      let outcome: { readonly value: T } | undefined;
      try {
        const open = new OpenTransaction(connection);
        open.write("BEGIN");
        open.write(
          `WITH marked AS (UPDATE writers SET batch = $2, used_at = now() WHERE id = $1 AND term = $3 RETURNING 1)
           SELECT prove((SELECT count(*) FROM marked) = 1)`,
          [this.#id, this.#done + 1, this.#term],
        );
        outcome = { value: await act(open) };
        beforeCommit?.();
        await open.commit();
        if (connection.isGone()) throw Object.assign(new Error("Connection terminated"), { code: "08006" });
        this.#done += 1;
        return outcome.value;
      } catch (error) {
        if (connection.isGone() || isLost(error)) {
          this.#lose(connection);
          await this.#connected();
          if (this.#stored === this.#done + 1 && outcome !== undefined) {
            this.#done += 1;
            return outcome.value;
          }
          continue;
        }
        await connection.query("ROLLBACK").catch(() => this.#lose(connection));
        conflicts += 1;
        if (!isConflict(error) || conflicts >= mostConflicts) throw error;
        // Its term may be over: a process that wrote nothing for weeks was forgotten.
        if (conflicts === mostConflicts / 2) this.#lose(connection);
      }
    }
  }

  async close(): Promise<void> {
    this.#end.abort();
    await this.#connection?.end();
  }

  #lose(connection: Connection): void {
    if (this.#connection !== connection) return;
    this.#connection = undefined;
    this.#server.abandon(connection);
  }

  async #connected(): Promise<Connection> {
    if (this.#connection !== undefined && !this.#connection.isGone()) return this.#connection;
    if (this.#connection !== undefined) this.#lose(this.#connection);
    const deadline = performance.now() + outagePatienceMs;
    for (;;) {
      const connection = await this.#server.connect(deadline - performance.now(), this.#end.signal);
      try {
        await this.#beginTerm(connection);
        if (!connection.isGone()) return (this.#connection = connection);
      } catch (error) {
        if (!isLost(error) || this.#end.signal.aborted || performance.now() > deadline) throw error;
      }
      this.#server.abandon(connection);
    }
  }

  /**
   * Waits for a transaction of the lost connection that is still under way, and ends its term: what arrives of it later
   * fails. Its own commit is what makes the stored number reliable, because a primary that was replaced and does not
   * know it yet cannot commit.
   */
  async #beginTerm(connection: Connection): Promise<void> {
    const [row] = await connection.query<{ batch: number; term: number }>(
      `INSERT INTO writers (id, batch, term) VALUES ($1, $2, 1)
       ON CONFLICT (id) DO UPDATE SET term = writers.term + 1 RETURNING batch, term`,
      [this.#id, this.#done],
    );
    this.#stored = row?.batch ?? 0;
    this.#term = row?.term ?? 0;
  }
}

class OpenTransaction implements Transaction {
  readonly #connection: Connection;
  readonly #sent: Promise<unknown>[] = [];

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async read<Row extends QueryResultRow>(text: string, values?: readonly unknown[]): Promise<readonly Row[]> {
    const rows = this.#connection.query<Row>(text, values);
    // The first failure is the cause; later statements only say that the transaction is aborted.
    rows.catch(() => undefined);
    await Promise.all(this.#sent);
    return rows;
  }

  sent<Row extends QueryResultRow>(text: string, values?: readonly unknown[]): Promise<readonly Row[]> {
    const rows = this.#connection.query<Row>(text, values);
    rows.catch(() => undefined);
    this.#sent.push(rows);
    return rows;
  }

  write(text: string, values?: readonly unknown[]): void {
    void this.sent(text, values);
  }

  async commit(): Promise<void> {
    this.write("COMMIT");
    await Promise.all(this.#sent);
  }
}

/** No other process may look at it: it is thrown for callers that come after the close. */
export const storeClosed = (place: string): StateUnavailable =>
  new StateUnavailable(`${place} was closed.`, { advice: "Open it again: what was recorded is there." });
