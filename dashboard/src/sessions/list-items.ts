import type { Arrangement } from "./arrangement.ts";
import type { Group } from "./grouping.ts";

/** The lines of the list. Rows that are not loaded have a line too, so that the scroll bar is right. */
export type ListItem =
  | { readonly kind: "group"; readonly group: Group; readonly total: number }
  | { readonly kind: "row"; readonly id: string; readonly group: Group }
  | { readonly kind: "unloaded"; readonly group: Group; readonly index: number };

export interface GroupState {
  readonly group: Group;
  /** Number on the server. */
  readonly total: number;
  /** Number loaded so far. */
  readonly loaded: number;
}

export function listItems(arrangement: Arrangement, states: readonly GroupState[]): ListItem[] {
  const items: ListItem[] = [];
  for (const { group, total, loaded } of states) {
    const ids = arrangement.get(group.name) ?? [];
    const unloaded = Math.max(0, total - loaded);
    if (ids.length + unloaded === 0) continue;
    // Rows change groups, so count the lines here instead of using the server's earlier total.
    items.push({ kind: "group", group, total: ids.length + unloaded });
    for (const id of ids) items.push({ kind: "row", id, group });
    for (let index = 0; index < unloaded; index += 1) items.push({ kind: "unloaded", group, index });
  }
  return items;
}

/** The group whose next page must be loaded for the visible lines; undefined if all are loaded. */
export function groupToRead(items: readonly ListItem[], first: number, last: number): Group | undefined {
  for (let index = first; index <= last; index += 1) {
    const item = items[index];
    if (item?.kind === "unloaded") return item.group;
  }
  return undefined;
}

/** The next loaded row in a direction, skipping headings. The same one at the ends. */
export function nextRow(items: readonly ListItem[], from: number, step: 1 | -1): number {
  for (let index = from + step; index >= 0 && index < items.length; index += step)
    if (items[index]?.kind === "row") return index;
  return from;
}
