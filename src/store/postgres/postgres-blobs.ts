import { randomUUID } from "node:crypto";
import { sha256 } from "../../domain/canonical.ts";
import { ArtifactCorrupt, InputInvalid } from "../../domain/errors.ts";
import { type BlobBatch, type Blobs, largestArtifactBytes } from "../blobs.ts";
import type { PostgresQueries } from "./postgres-queries.ts";
import type { Connection, Server } from "./server.ts";
import { isConflict, notWritten, translate } from "./server-errors.ts";

const hashForm = /^[0-9a-f]{64}$/;
const listedAtOnce = 1_000;
const isWhole = "encode(sha256(bytes), 'hex') = sha256";
const store = `INSERT INTO blobs (sha256, bytes, pack) VALUES ($1, $2, $3)
  ON CONFLICT (sha256, pack) DO UPDATE SET bytes = excluded.bytes, put_at = clock_timestamp()`;

/**
 * Blobs as rows, in the database of the journal. Blobs of a batch belong to its pack, a blob that lists them: a
 * reference to the pack keeps all of them.
 */
export class PostgresBlobs implements Blobs {
  readonly #queries: PostgresQueries;
  readonly #server: Server;

  constructor(queries: PostgresQueries, server: Server) {
    this.#queries = queries;
    this.#server = server;
  }

  async put(content: string | Uint8Array): Promise<string> {
    const bytes = Buffer.from(content);
    if (bytes.length > largestArtifactBytes)
      throw new InputInvalid(
        `An artifact of ${bytes.length} bytes is over the limit of ${largestArtifactBytes}.`,
      );
    const hash = sha256(bytes);
    // Most are there already, and need not be sent.
    const touched = await this.#write(
      `UPDATE blobs SET put_at = clock_timestamp() WHERE sha256 = $1 AND pack = '' AND ${isWhole} RETURNING 1`,
      [hash],
    );
    if (touched.length === 0) await this.#write(store, [hash, bytes, ""]);
    return hash;
  }

  async batch(): Promise<BlobBatch> {
    return new PostgresBatch(await this.#server.connect(), this.#server.place, (hash) => this.#touch(hash));
  }

  async get(hash: string): Promise<Buffer> {
    check(hash);
    const rows = await this.#queries.read<{ bytes: Buffer }>(
      `SELECT bytes FROM blobs WHERE sha256 = $1 ORDER BY ${isWhole} DESC LIMIT 1`,
      [hash],
    );
    const [found] = rows;
    if (found !== undefined && sha256(found.bytes) === hash) return found.bytes;
    const problem = found === undefined ? "missing" : "damaged: its content has changed";
    throw new ArtifactCorrupt(`Artifact ${hash} is ${problem}.`, {
      details: { sha256: hash, problem },
      advice: "Restore the database from a backup, or fork the session at the phase that made it.",
    });
  }

  async has(hash: string): Promise<boolean> {
    check(hash);
    const rows = await this.#queries.read(`SELECT 1 FROM blobs WHERE sha256 = $1 AND ${isWhole} LIMIT 1`, [
      hash,
    ]);
    return rows.length > 0;
  }

  async *olderThan(time: number): AsyncIterable<string> {
    for (let after = ""; ; ) {
      const rows = await this.#queries.read<{ sha256: string }>(
        `SELECT sha256 FROM blobs WHERE pack = '' AND put_at < to_timestamp($1 / 1000.0) AND sha256 > $2
         ORDER BY sha256 LIMIT ${listedAtOnce}`,
        [time, after],
      );
      for (const row of rows) yield row.sha256;
      const last = rows.at(-1);
      if (last === undefined) return;
      after = last.sha256;
    }
  }

  /** A `put` of the same bytes changes the time, and the deletion then finds another row than it has judged. */
  async remove(hash: string, before: number, isNeeded: (hash: string) => Promise<boolean>): Promise<boolean> {
    check(hash);
    const [row] = await this.#queries.read<{ put: string; isOld: boolean }>(
      `SELECT put_at::text AS put, put_at < to_timestamp($2 / 1000.0) AS "isOld" FROM blobs
       WHERE sha256 = $1 AND pack = ''`,
      [hash, before],
    );
    if (row?.isOld !== true || (await isNeeded(hash))) return false;
    const removed = await this.#write(
      `WITH removed AS (
         DELETE FROM blobs WHERE sha256 = $1 AND put_at = $2::timestamptz AND pack = '' RETURNING sha256),
       members AS (DELETE FROM blobs WHERE pack IN (SELECT sha256 FROM removed))
       SELECT 1 FROM removed`,
      [hash, row.put],
    );
    return removed.length > 0;
  }

  /** Keeps retention from removing the blob. Returns what a row must reference; undefined if it must be written. */
  async #touch(hash: string): Promise<string | undefined> {
    const [row] = await this.#write<{ reference: string }>(
      `WITH found AS (
         SELECT CASE pack WHEN '' THEN sha256 ELSE pack END AS reference FROM blobs
         WHERE sha256 = $1 AND ${isWhole} ORDER BY pack LIMIT 1)
       UPDATE blobs SET put_at = clock_timestamp() FROM found WHERE sha256 = found.reference AND pack = ''
       RETURNING found.reference`,
      [hash],
    );
    return row?.reference;
  }

  /** Each of these statements may be repeated, so a lost connection does not matter. */
  async #write<Row extends Record<string, unknown>>(text: string, values: readonly unknown[]) {
    try {
      return await this.#queries.read<Row>(text, values);
    } catch (error) {
      throw notWritten(error, this.#server.place);
    }
  }
}

/** One transaction on a connection of its own, which writes each blob as it comes. */
class PostgresBatch implements BlobBatch {
  readonly #connection: Connection;
  readonly #place: string;
  readonly #touch: (hash: string) => Promise<string | undefined>;
  readonly #id = randomUUID();
  readonly #references = new Set<string>();
  readonly #written = new Set<string>();
  #isBegun = false;

  constructor(connection: Connection, place: string, touch: (hash: string) => Promise<string | undefined>) {
    this.#connection = connection;
    this.#place = place;
    this.#touch = touch;
  }

  async add(content: Buffer): Promise<string> {
    const hash = sha256(content);
    if (this.#written.has(hash)) return hash;
    const known = await this.#touch(hash);
    if (known === undefined) await this.#write(hash, content);
    else this.#references.add(known);
    return hash;
  }

  async commit(): Promise<readonly string[]> {
    if (this.#written.size === 0) return [...this.#references];
    const index = Buffer.from([...this.#written].sort().join("\n"));
    const pack = sha256(index);
    try {
      await this.#connection.query(store, [pack, index, ""]);
      await this.#connection.query("UPDATE blobs SET pack = $1 WHERE pack = $2", [pack, this.#id]);
      await this.#connection.query("COMMIT");
    } catch (error) {
      // The same batch was committed meanwhile, and the name of a pack says what is in it.
      if (!isConflict(error)) throw notWritten(error, this.#place);
      await this.#connection.query("ROLLBACK");
      if ((await this.#touch(pack)) === undefined) throw notWritten(error, this.#place);
    }
    return [...this.#references, pack];
  }

  /** Without a commit, the server forgets what was written when the connection ends. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection.end();
  }

  async #write(hash: string, content: Buffer): Promise<void> {
    try {
      if (!this.#isBegun) await this.#connection.query("BEGIN");
      this.#isBegun = true;
      await this.#connection.query(store, [hash, content, this.#id]);
      this.#written.add(hash);
    } catch (error) {
      throw translate(error, this.#place);
    }
  }
}

function check(hash: string): void {
  if (!hashForm.test(hash)) throw new InputInvalid(`"${hash}" is not the SHA-256 of an artifact.`);
}
