import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from "node:sqlite";
import { isBusy } from "./sqlite-errors.ts";

/**
 * Prepared when it is first used, and kept. The writer knows more than sixty and needs fifteen of them before a session's first step,
 * which would wait 3 ms for the others; to prepare at each use costs a fifth of the throughput.
 */
export class Statement {
  readonly #database: DatabaseSync;
  readonly #sql: string;
  readonly #asLists: boolean;
  #prepared: StatementSync | undefined;

  /** `asLists`: a row is a list of its columns, which is quickest. */
  constructor(database: DatabaseSync, sql: string, { asLists = false } = {}) {
    this.#database = database;
    this.#sql = sql;
    this.#asLists = asLists;
  }

  run(...values: SQLInputValue[]): ReturnType<StatementSync["run"]> {
    return this.#prepare().run(...values);
  }

  get(...values: SQLInputValue[]): Record<string, SQLOutputValue> | undefined {
    return this.#prepare().get(...values);
  }

  all(...values: SQLInputValue[]): Record<string, SQLOutputValue>[] {
    return this.#prepare().all(...values);
  }

  #prepare(): StatementSync {
    if (this.#prepared !== undefined) return this.#prepared;
    const prepared = this.#database.prepare(this.#sql);
    if (this.#asLists) prepared.setReturnArrays(true);
    this.#prepared = prepared;
    return prepared;
  }
}

const patienceMs = 20_000;
const bed = new Int32Array(new SharedArrayBuffer(4));

export const beginWriting = (begin: Statement): void => whenFree(() => void begin.run(), patienceMs);

/** Random short naps are fair and smooth between processes; SQLite's own busy handler is neither, and not always asked. */
export function whenFree(act: () => void, withinMs: number): void {
  const deadline = performance.now() + withinMs;
  for (;;) {
    try {
      return act();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
      Atomics.wait(bed, 0, 0, 1 + Math.random() * 3);
    }
  }
}
