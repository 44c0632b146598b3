import { canonicalJson } from "../domain/canonical.ts";
import type { Direction, Transition } from "../journal/journal.ts";

/** Where to pause was said for the whole session, until somebody names other places; how far to go, for one drive. */
export function nextDirection({ pauseAfter }: Direction, wanted: Direction = {}): Direction {
  return pauseAfter === undefined ? wanted : { pauseAfter, ...wanted };
}

export function isSameDirection(one: Direction, other: Direction): boolean {
  return canonicalJson(one) === canonicalJson(other);
}

/** The row that says where the session goes from now on, if that is somewhere else. */
export function directionRows(recorded: Direction, wanted: Direction | undefined): Transition[] {
  const next = nextDirection(recorded, wanted);
  return isSameDirection(next, recorded) ? [] : [{ kind: "session.directed", ...next }];
}
