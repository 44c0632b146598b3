import type { DatabaseSync, StatementSync } from "node:sqlite";
import { isBusy } from "./sqlite-errors.ts";

/**
 * Statements by name, each prepared on first use and kept. The writer has more than sixty and needs fifteen before
 * a session's first step; preparing the others would delay it by 3 ms. Preparing at each use would cost a fifth of
 * the throughput. `asLists`: rows as lists of columns, the fastest form.
 */
export function prepareLazily<Name extends string>(
  database: DatabaseSync,
  sql: Readonly<Record<Name, string>>,
  { asLists = false } = {},
): Readonly<Record<Name, StatementSync>> {
  const statements = {} as Record<Name, StatementSync>;
  for (const name of Object.keys(sql) as Name[]) {
    const prepare = () => {
      const value = database.prepare(sql[name]);
      if (asLists) value.setReturnArrays(true);
      Object.defineProperty(statements, name, { value });
      return value;
    };
    Object.defineProperty(statements, name, { get: prepare, configurable: true, enumerable: true });
  }
  return statements;
}

const bed = new Int32Array(new SharedArrayBuffer(4));

/**
 * Random short sleeps are fair and smooth between processes. SQLite's own busy handler is neither and is not always
 * called.
 */
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
