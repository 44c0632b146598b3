import { isBusy } from "./sqlite-errors.ts";
import type { Statement } from "./statement.ts";

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
