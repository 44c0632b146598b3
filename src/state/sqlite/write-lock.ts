import { isBusy } from "./sqlite-errors.ts";
import type { Statement } from "./statement.ts";

const patienceMs = 20_000;
const bed = new Int32Array(new SharedArrayBuffer(4));

/** Random short naps are fair and smooth between processes; SQLite's own busy handler is neither. */
export function beginWriting(begin: Statement): void {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    try {
      begin.run();
      return;
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
      Atomics.wait(bed, 0, 0, 1 + Math.random() * 3);
    }
  }
}
