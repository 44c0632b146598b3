/** For the whole process, however many sessions it recovers at once. */
const keptLimit = 16 * 1024 * 1024;
const fewSteps = 1_024;

export interface Keeps {
  /** The body of its row, until somebody has asked for it or others need the room. */
  kept: string | undefined;
}

/**
 * Bodies of recorded steps that were just read and will be asked for soon, the oldest first. Bounded: the oldest make
 * room, and the store has them all. What nobody asks for any more goes the same way. A list, because a map of ten thousand
 * objects takes longer to build than the bodies to read.
 */
let keepers: Keeps[] = [];
let oldest = 0;
let keptLength = 0;
let keptCount = 0;

export function keepBody(step: Keeps, body: string): void {
  if (body.length > keptLimit) return;
  if (keepers.length > fewSteps && keepers.length > 2 * keptCount) forgetTaken();
  step.kept = body;
  keepers.push(step);
  keptLength += body.length;
  keptCount += 1;
  for (; keptLength > keptLimit; oldest += 1) takeBody(keepers[oldest] as Keeps);
}

/** Once: it is not asked for again. */
export function takeBody(step: Keeps): string | undefined {
  const { kept } = step;
  if (kept === undefined) return undefined;
  step.kept = undefined;
  keptLength -= kept.length;
  keptCount -= 1;
  return kept;
}

function forgetTaken(): void {
  keepers = keepers.filter(({ kept }) => kept !== undefined);
  oldest = 0;
}
