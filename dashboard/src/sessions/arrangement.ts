import type { SessionRow } from "../api/types.ts";
import { type Group, type GroupName, isIn } from "./grouping.ts";

/** The displayed order of rows, per group. */
export type Arrangement = ReadonlyMap<GroupName, readonly string[]>;

interface Arranged {
  readonly arrangement: Arrangement;
  /** Rows that would appear or move if the list were not held still. */
  readonly waiting: number;
}

export interface Given {
  readonly groups: readonly Group[];
  /** Ids as the server listed them, per group. */
  readonly loaded: Arrangement;
  /** The newest known row of each id. */
  readonly rows: ReadonlyMap<string, SessionRow>;
  /** Rows of the stream that pass the filters. */
  readonly streamed: readonly SessionRow[];
  readonly previous: Arrangement | undefined;
  /** The pointer or the focus is in the list, so nothing may move. */
  readonly still: boolean;
}

/** Rows never move under pointer or focus. New ones wait and are counted. */
export function arrange(given: Given): Arranged {
  const wanted = wantedOrder(given);
  const { previous, still } = given;
  if (!still || previous === undefined) return { arrangement: wanted, waiting: 0 };
  const placeNow = placesOf(previous);
  const placeWanted = placesOf(wanted);
  const isPage = pageIds(given);
  const kept = new Map<GroupName, string[]>();
  for (const [group, ids] of previous) kept.set(group, [...ids]);
  // The reader scrolled for more pages, which appear below and move nothing.
  for (const [group, ids] of wanted) {
    const known = kept.get(group) ?? [];
    kept.set(group, [...known, ...ids.filter((id) => !placeNow.has(id) && isPage.has(id))]);
  }
  let waiting = 0;
  for (const [id, group] of placeWanted)
    if (placeNow.get(id) !== group && !(isPage.has(id) && !placeNow.has(id))) waiting += 1;
  return { arrangement: kept, waiting };
}

function wantedOrder({ groups, loaded, rows, streamed }: Given): Arrangement {
  return new Map(
    groups.map((group) => {
      const listed = new Set(loaded.get(group.name) ?? []);
      const arrived = streamed
        .filter((row) => !listed.has(row.id) && isIn(group, row))
        .sort((a, b) => b.since.localeCompare(a.since))
        .map(({ id }) => id);
      const stayed = [...listed].filter((id) => {
        const row = rows.get(id);
        return row === undefined || isIn(group, row);
      });
      return [group.name, [...arrived, ...stayed]];
    }),
  );
}

function placesOf(arrangement: Arrangement): Map<string, GroupName> {
  const places = new Map<string, GroupName>();
  for (const [group, ids] of arrangement) for (const id of ids) places.set(id, group);
  return places;
}

function pageIds({ loaded, streamed }: Given): ReadonlySet<string> {
  const live = new Set(streamed.map(({ id }) => id));
  return new Set([...loaded.values()].flat().filter((id) => !live.has(id)));
}

/** Remembers the order of rows while the same list is shown. */
export class ArrangementKeeper {
  #last: { readonly shape: string; readonly arrangement: Arrangement } | undefined;

  arrange(shape: string, given: Omit<Given, "previous">): Arranged {
    const previous = this.#last?.shape === shape ? this.#last.arrangement : undefined;
    const arranged = arrange({ ...given, previous });
    this.#last = { shape, arrangement: arranged.arrangement };
    return arranged;
  }
}
