import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client as PgClient, QueryResultRow } from "pg";
import { StateUnavailable } from "../../domain/errors.ts";
import { type Address, type Host, showAddress, showHost } from "./address.ts";
import { isLost, reasonOf, refusalOf, translate } from "./server-errors.ts";

/** A frozen server would otherwise hold its callers for ever. */
const answerPatienceMs = 10_000;
const connectPatienceMs = 3_000;
const betweenTriesMs = 200;
/** The oldest release that the tests run on. */
const oldestVersion = 14;

/**
 * Others wait for the rows of an open transaction, also of a process that is frozen or cut off: the server ends it. Without
 * these settings it learns of a cut connection after hours.
 */
const sessionSettings: Readonly<Record<string, string>> = {
  idle_in_transaction_session_timeout: "5s",
  client_connection_check_interval: "1s",
  tcp_keepalives_idle: "5",
  tcp_keepalives_interval: "2",
  tcp_keepalives_count: "3",
};

const int8 = 20;
const numeric = 1700;

/** A connection of its own to the primary. */
export interface Connection {
  query<Row extends QueryResultRow>(text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
  /** Rows as lists of columns. */
  lists(text: string, values?: readonly unknown[]): Promise<unknown[][]>;
  readonly client: PgClient;
  readonly isGone: () => boolean;
  end(): Promise<void>;
}

/** Finds the primary among the hosts and opens connections to it. */
export class Server {
  readonly place: string;
  readonly #address: Address;
  #names = new Map<string, string>();
  /** Connections that were lost. */
  losses = 0;
  /** The host that was the primary last. */
  #last = 0;

  constructor(address: Address) {
    this.#address = address;
    this.place = showAddress(address);
  }

  /** Tries all hosts until one is the primary, for at most `patienceMs`; once if that is 0. */
  async connect(patienceMs = 0, signal?: AbortSignal): Promise<Connection> {
    const deadline = performance.now() + patienceMs;
    for (;;) {
      const problems: string[] = [];
      for (let at = 0; at < this.#address.hosts.length; at += 1) {
        const index = (this.#last + at) % this.#address.hosts.length;
        const host = this.#address.hosts[index] as Host;
        const tried = await this.#try(host);
        if (typeof tried === "string") problems.push(`${showHost(host)}: ${tried}`);
        else {
          this.#last = index;
          return tried;
        }
      }
      if (performance.now() >= deadline || signal?.aborted === true)
        throw new StateUnavailable(`PostgreSQL cannot be reached. ${problems.join("; ")}.`, {
          details: { store: this.place },
          advice: "Check MAESTRO_STORE, and that the server runs and can be reached from here.",
        });
      await sleep(betweenTriesMs, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Returns why the host cannot be used now. Throws if trying again is useless. */
  async #try(host: Host): Promise<Connection | string> {
    const place = showHost(host);
    const client = await this.#client(host);
    // Reported by the query under way, or by the next one.
    client.on("error", () => undefined);
    try {
      await client.connect();
      const standby = await this.#prove(client, place);
      if (!standby) return this.#connection(client);
      await client.end();
      return "it is a standby";
    } catch (error) {
      client.end().catch(() => undefined);
      const refused = refusalOf(error, place);
      if (refused !== undefined) throw refused;
      if (!isLost(error)) throw translate(error, place);
      return reasonOf(error);
    }
  }

  async #client(host: Host): Promise<PgClient> {
    const { Client, types } = await import("pg");
    const { user, password, database, tls, rootCertificate } = this.#address;
    const trusted = rootCertificate === undefined ? undefined : readFileSync(rootCertificate, "utf8");
    return new Client({
      host: host.host,
      port: host.port,
      user,
      password,
      database,
      ssl: tls === "off" ? false : { rejectUnauthorized: tls === "verified", ca: trusted },
      connectionTimeoutMillis: connectPatienceMs,
      query_timeout: answerPatienceMs,
      keepAlive: true,
      application_name: "maestro",
      pipeline: true,
      types: {
        getTypeParser: ((oid: number, format?: "text" | "binary") =>
          oid === int8 || oid === numeric ? Number : types.getTypeParser(oid, format)) as never,
      },
    });
  }

  /** Checks what durability and sessions rest on. True for a standby. */
  async #prove(client: PgClient, place: string): Promise<boolean> {
    const found = await client.query(
      `SELECT pg_is_in_recovery() AS standby, pg_backend_pid() AS pid, current_setting('server_version_num')::int AS version,
         current_setting('server_version') AS release, current_setting('fsync') AS fsync,
         current_setting('synchronous_commit') AS commit, set_config('search_path', $1, false)`,
      [this.#address.schema],
    );
    const { standby, pid, version, release, fsync, commit } = found.rows[0];
    const unfit = (what: string, advice: string) => {
      throw new StateUnavailable(`PostgreSQL at ${place} ${what}`, { details: { store: place }, advice });
    };
    if (version < oldestVersion * 10_000)
      unfit(`is version ${release}, and Maestro needs ${oldestVersion} or newer.`, "Update the server.");
    // A pooler answers with a process of its own, and hands the session to others between transactions.
    if (pid !== (client as unknown as { processID: number }).processID)
      unfit(
        "is behind a pooler, which keeps no locks and notifications of a session.",
        "Name PostgreSQL itself in MAESTRO_STORE.",
      );
    if (fsync === "off" || commit === "off")
      unfit(
        `has ${fsync === "off" ? "fsync" : "synchronous_commit"} = off, so a power cut would lose recorded steps.`,
        "Turn it on, for the server or for this user (ALTER ROLE ... SET synchronous_commit = on).",
      );
    for (const [setting, value] of Object.entries(sessionSettings))
      await client.query("SELECT set_config($1, $2, false)", [setting, value]);
    return standby;
  }

  #connection(client: PgClient): Connection {
    let isGone = false;
    let pending = 0;
    client.on("end", () => (isGone = true));
    // A commit that was not confirmed by its standby is reported as a success with a warning.
    client.on("notice", ({ code, message = "" }) => {
      if (code !== "01000" || !/synchronous|replicat/i.test(message)) return;
      isGone = true;
      socket.destroy();
    });
    const socket = streamOf(client);
    socket.unref();
    /** An idle connection alone must not keep the process alive. */
    const counted = async <T>(answer: Promise<T>): Promise<T> => {
      pending += 1;
      if (pending === 1) socket.ref();
      try {
        return await answer;
      } finally {
        pending -= 1;
        if (pending === 0) socket.unref();
      }
    };
    const query = async <Row extends QueryResultRow>(text: string, values: readonly unknown[] = []) =>
      (await counted(client.query<Row>({ name: this.#name(text), text, values: [...values] }))).rows;
    const lists = async (text: string, values: readonly unknown[] = []) => {
      const asked = { name: this.#name(text), text, values: [...values], rowMode: "array" as const };
      return (await counted(client.query<unknown[]>(asked))).rows;
    };
    const end = async () => {
      isGone = true;
      socket.ref();
      await client.end().catch(() => undefined);
    };
    return { query, lists, client, isGone: () => isGone, end };
  }

  /** Ends a connection whose server may never answer. */
  abandon({ client }: Connection): void {
    this.losses += 1;
    client.end().catch(() => undefined);
    streamOf(client).destroy();
  }

  /** The server plans each text once for a connection. */
  #name(text: string): string {
    const name = this.#names.get(text) ?? `m${this.#names.size}`;
    this.#names.set(text, name);
    return name;
  }
}

const streamOf = (client: PgClient): Socket =>
  (client as unknown as { connection: { stream: Socket } }).connection.stream;
