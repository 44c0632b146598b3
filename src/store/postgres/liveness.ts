import { setTimeout as sleep } from "node:timers/promises";
import { type Owner, uptimeMs } from "../owner.ts";
import { LocalWakeups, type Wakeup, type Wakeups } from "../wakeups.ts";
import type { Connection, Server } from "./server.ts";

/** Locks of processes that live. The second number is the hash of the owner's id. */
export const lifeLock = 4160;
const betweenNotificationsMs = 50;
const betweenTriesMs = 500;

/**
 * The connection by which other processes see that this one lives: it beats, holds a lock that the server frees when
 * the connection ends, and carries wakeups. Lost, it is made anew.
 */
export class Liveness implements Wakeups {
  readonly #server: Server;
  readonly #owner: Owner;
  readonly #channel: string;
  readonly #local = new LocalWakeups();
  readonly #end = new AbortController();
  readonly #toTell = new Set<Wakeup>();
  #now: () => number;
  #everyMs: number;
  #isBeating = false;
  #running: Promise<void> | undefined;
  #connection: Connection | undefined;
  #telling: NodeJS.Timeout | undefined;
  #ready: Promise<void> | undefined;

  constructor(
    server: Server,
    { owner, schema, beatMs, now }: { owner: Owner; schema: string; beatMs: number; now: () => number },
  ) {
    this.#server = server;
    this.#owner = owner;
    this.#channel = `maestro_${schema}`;
    this.#everyMs = beatMs;
    this.#now = now;
  }

  /** Resolves once other processes can see that this one lives. */
  live(): Promise<void> {
    this.#isBeating = true;
    return this.#start();
  }

  tell(wakeup: Wakeup): void {
    this.#local.tell(wakeup);
    this.#toTell.add(wakeup);
    this.#telling ??= setTimeout(() => void this.#notify(), betweenNotificationsMs).unref();
  }

  hear(wakeup: Wakeup, listener: () => void): () => void {
    this.#start().catch(() => undefined);
    return this.#local.hear(wakeup, listener);
  }

  async close(): Promise<void> {
    this.#end.abort();
    clearTimeout(this.#telling);
    await this.#running;
    await this.#connection?.end();
  }

  #start(): Promise<void> {
    if (this.#end.signal.aborted) return Promise.resolve();
    this.#ready ??= new Promise((resolve) => {
      this.#running = this.#run(resolve);
    });
    return this.#ready;
  }

  async #run(onReady: () => void): Promise<void> {
    const { signal } = this.#end;
    while (!signal.aborted) {
      try {
        this.#connection = await this.#connect();
        onReady();
        while (!signal.aborted && !this.#connection.isGone()) {
          await sleep(this.#everyMs, undefined, { signal, ref: false }).catch(() => undefined);
          if (this.#isBeating && !signal.aborted) await this.#beat(this.#connection);
        }
      } catch {
        // Reads and writes report a server that cannot be reached. The lease waits for it.
      }
      if (signal.aborted) return;
      if (this.#connection !== undefined) this.#server.abandon(this.#connection);
      this.#connection = undefined;
      await sleep(betweenTriesMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  async #connect(): Promise<Connection> {
    const connection = await this.#server.connect();
    connection.client.on("notification", ({ payload }) => this.#onNotification(payload));
    const lock = [lifeLock, this.#owner.id];
    // After a cut the server may keep the connection of before, with the lock, long after this process lost it.
    await connection.query(
      `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND classid = $1
         AND objid = (hashtext($2)::bigint & 4294967295)::oid AND pid <> pg_backend_pid()`,
      lock,
    );
    await connection.query("SELECT pg_advisory_lock($1, hashtext($2))", lock);
    await connection.client.query(`LISTEN "${this.#channel}"`);
    return connection;
  }

  async #beat(connection: Connection): Promise<void> {
    await connection.query(
      "UPDATE owners SET beats = beats + 1, beat_uptime_ms = $1, beat_at = $2 WHERE id = $3",
      [uptimeMs(), this.#now(), this.#owner.id],
    );
  }

  /** Bounded: a notification inside each commit would cost most of the throughput. A lost one is found by polling. */
  async #notify(): Promise<void> {
    this.#telling = undefined;
    const wakeups = [...this.#toTell];
    this.#toTell.clear();
    for (const wakeup of wakeups)
      await this.#connection
        ?.query("SELECT pg_notify($1, $2)", [this.#channel, `${wakeup} ${this.#owner.id}`])
        .catch(() => undefined);
  }

  #onNotification(payload = ""): void {
    const [wakeup, from] = payload.split(" ");
    if (from === this.#owner.id) return;
    if (wakeup === "signal" || wakeup === "due") this.#local.tell(wakeup);
  }
}
