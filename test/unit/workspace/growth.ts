const times = 16;
const runs = 4;
/** Processor time is counted in steps of a few milliseconds. */
const leastMicroseconds = 8000;

/**
 * How much longer the work takes for a large size than sixteen times for a sixteenth of it: about 1 when it is linear, 16
 * when it is quadratic. Counts the processor time of this thread and the best of several runs, so that a busy machine
 * does not show in it.
 */
export async function growth(prepare: (size: number) => () => unknown, size: number): Promise<number> {
  const [small, large] = [prepare(size / times), prepare(size)];
  const manySmall = async () => {
    for (let time = 0; time < times; time += 1) await small();
  };
  return (await bestOf(large)) / Math.max(await bestOf(manySmall), leastMicroseconds);
}

/** Between linear and quadratic, with room on both sides. */
export const clearlyLess = 6;

async function bestOf(work: () => unknown): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < runs; run += 1) {
    const before = process.threadCpuUsage();
    await work();
    const { user, system } = process.threadCpuUsage(before);
    best = Math.min(best, user + system);
  }
  return best;
}
