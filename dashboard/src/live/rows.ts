import type { SessionRow } from "../api/types.ts";
import { Store } from "./store.ts";

/** Rows as the stream last sent them. They are newer than any page of the list. */
export const liveRows = new Store<ReadonlyMap<string, SessionRow>>(new Map());

const mostRows = 5000;

export function addLiveRows(rows: readonly SessionRow[]): void {
  if (rows.length === 0) return;
  const known = liveRows.get();
  const next = new Map(known.size > mostRows ? [...known].slice(-mostRows / 2) : known);
  for (const row of rows) next.set(row.id, row);
  liveRows.set(next);
}

export const clearLiveRows = (): void => liveRows.set(new Map());
