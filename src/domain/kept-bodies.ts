/** For the whole process, however many sessions it recovers at once. */
const keptLimit = 16 * 1024 * 1024;

/**
 * Bodies of recorded steps that were just read and will be asked for soon. Bounded: the oldest make room, and the store
 * has them all. What nobody asks for any more goes the same way.
 */
const kept = new Map<object, string>();
let keptLength = 0;

export function keepBody(step: object, body: string): void {
  if (body.length > keptLimit) return;
  kept.set(step, body);
  keptLength += body.length;
  for (const oldest of kept.keys()) {
    if (keptLength <= keptLimit) return;
    takeBody(oldest);
  }
}

/** Once: it is not asked for again. */
export function takeBody(step: object): string | undefined {
  const body = kept.get(step);
  if (body !== undefined && kept.delete(step)) keptLength -= body.length;
  return body;
}
