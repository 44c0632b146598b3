import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { useLocation } from "wouter";
import type { SessionRow } from "../api/types.ts";
import { count } from "../format/count.ts";
import { useShortcut } from "../keys/shortcuts.ts";
import { Placed } from "../ui/placed.tsx";
import { useRestoredScroll } from "../ui/restore-scroll.ts";
import { phone, useMedia } from "../ui/screen.ts";
import { addressOf } from "../url/session-url.ts";
import { groupAside } from "./grouping.ts";
import { type GroupState, groupToRead, type ListItem, nextRow } from "./list-items.ts";
import { SessionCells } from "./row.tsx";

interface Props {
  readonly items: readonly ListItem[];
  readonly rows: ReadonlyMap<string, SessionRow>;
  readonly states: readonly GroupState[];
  readonly stale: boolean;
  /** The address under which the scroll position is stored. */
  readonly address: string;
  readonly onNeed: (group: GroupState["group"]) => void;
  /** Called when the list gains or loses the pointer or the focus. */
  readonly onStill: (still: boolean) => void;
}

const columns = ["Status", "Session", "Team", "Phases", "Now, or how it ended", "Spent / limit", "Age", ""];

export function SessionGrid({ items, rows, states, stale, address, onNeed, onStill }: Props) {
  const scroll = useRef<HTMLDivElement>(null);
  const small = useMedia(phone);
  // The column heads stay in view, in front of the rows.
  const headHeight = small ? 0 : 30;
  const [, navigate] = useLocation();
  const [currentId, setCurrentId] = useState<string>();
  const virtualizer = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroll.current,
    estimateSize: (index) => (items[index]?.kind === "group" ? 32 : small ? 62 : 36),
    overscan: 12,
    scrollMargin: headHeight,
    scrollPaddingStart: headHeight,
    getItemKey: (index) => keyOf(items[index], index),
  });
  useEffect(() => virtualizer.measure(), [virtualizer, small, items]);
  useRestoredScroll(scroll, address, items.length > 0);

  const shown = virtualizer.getVirtualItems();
  const needed = groupToRead(items, shown[0]?.index ?? 0, shown.at(-1)?.index ?? 0);
  useEffect(() => {
    if (needed !== undefined) onNeed(needed);
  }, [needed, onNeed, items]);

  const found = items.findIndex((item) => item.kind === "row" && item.id === currentId);
  const currentIndex = found === -1 ? nextRow(items, -1, 1) : found;

  const moveTo = (index: number) => {
    const item = items[index];
    if (item?.kind !== "row") return;
    setCurrentId(item.id);
    virtualizer.scrollToIndex(index, { align: "auto" });
    requestAnimationFrame(() =>
      scroll.current?.querySelector<HTMLElement>(`[data-index="${index}"]`)?.focus(),
    );
  };
  const open = () => {
    const row = currentId === undefined ? undefined : rows.get(currentId);
    if (row !== undefined) navigate(addressOf(row));
  };
  useShortcut("j", () => moveTo(found === -1 ? currentIndex : nextRow(items, currentIndex, 1)));
  useShortcut("k", () => moveTo(nextRow(items, currentIndex, -1)));

  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key] as 1 | -1 | undefined;
    const page = { PageDown: 15, PageUp: -15 }[event.key];
    if (step !== undefined) moveTo(nextRow(items, currentIndex, step));
    else if (page !== undefined)
      moveTo(nextRow(items, Math.max(0, Math.min(items.length - 1, currentIndex + page)), page > 0 ? -1 : 1));
    else if (event.key === "Home") moveTo(nextRow(items, -1, 1));
    else if (event.key === "End") moveTo(nextRow(items, items.length, -1));
    else if (event.key === "ArrowRight" || event.key === "ArrowLeft") moveInRow(event);
    else if (event.key === "Enter" && event.target instanceof HTMLElement && event.target.role === "row")
      open();
    else return;
    event.preventDefault();
  };

  return (
    <div
      className="grid"
      role="grid"
      tabIndex={-1}
      aria-label="Sessions"
      aria-rowcount={items.length + 1}
      aria-busy={needed !== undefined}
      onKeyDown={onKeyDown}
      onPointerEnter={(event) => event.pointerType === "mouse" && onStill(true)}
      onPointerLeave={(event) => {
        // While the pointer moves to "3 new", the rows keep waiting, so that it does not vanish.
        const aims =
          event.relatedTarget instanceof Element && event.relatedTarget.closest(".new-rows") !== null;
        onStill(aims || (scroll.current?.contains(document.activeElement) ?? false));
      }}
      onFocus={() => onStill(true)}
      onBlur={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget))
          onStill(event.currentTarget.matches(":hover"));
      }}
    >
      <div className="grid-scroll" ref={scroll} role="none">
        <div role="rowgroup" className="grid-head">
          <div role="row" className="grid-row grid-columns" aria-rowindex={1}>
            {columns.map((column, index) => (
              <span key={column} role="columnheader" className={`cell cell-${cellNames[index]}`}>
                {column === "" ? <span className="unseen">Action</span> : column}
              </span>
            ))}
          </div>
        </div>
        <Placed at={{ height: virtualizer.getTotalSize() }} className="grid-body" role="rowgroup">
          {shown.map(({ index, start, size, key }) => {
            const item = items[index];
            if (item === undefined) return null;
            const row = item.kind === "row" ? rows.get(item.id) : undefined;
            const at = { transform: `translateY(${start - headHeight}px)`, height: size };
            if (item.kind === "group") {
              return (
                <Placed
                  key={key}
                  at={at}
                  role="row"
                  className="grid-line group-line"
                  aria-rowindex={index + 2}
                >
                  <span role="gridcell" className="one-line">
                    <b className="medium">{item.group.title}</b>
                    <span className="ink-3">
                      {" "}
                      {count(item.total)} · {asideOf(item, items, rows, states)}
                    </span>
                  </span>
                </Placed>
              );
            }
            if (row === undefined) {
              return (
                <Placed key={key} at={at} role="row" className="grid-line grid-row" aria-rowindex={index + 2}>
                  <span role="gridcell" className="cell">
                    <span className="skeleton bar width-2" />
                    <span className="unseen">Loading</span>
                  </span>
                </Placed>
              );
            }
            return (
              <Placed
                key={key}
                at={at}
                role="row"
                aria-rowindex={index + 2}
                aria-selected={row.id === currentId}
                data-index={index}
                data-status={row.status}
                className="grid-line grid-row session-line"
                tabIndex={index === currentIndex ? 0 : -1}
                onFocus={() => setCurrentId(row.id)}
                onClick={(event) => {
                  if ((event.target as Element).closest("a, button") === null) navigate(addressOf(row));
                }}
              >
                <SessionCells row={row} stale={stale} />
              </Placed>
            );
          })}
        </Placed>
      </div>
    </div>
  );
}

const cellNames = ["status", "session", "team", "phases", "now", "spent", "age", "action"];

function keyOf(item: ListItem | undefined, index: number): string | number {
  if (item === undefined) return index;
  if (item.kind === "row") return `${item.group.name} ${item.id}`;
  return item.kind === "group" ? item.group.name : `${item.group.name} ${item.index}`;
}

function asideOf(
  item: Extract<ListItem, { kind: "group" }>,
  items: readonly ListItem[],
  rows: ReadonlyMap<string, SessionRow>,
  states: readonly GroupState[],
): string {
  const partly = states.some(({ group, total, loaded }) => group === item.group && loaded < total);
  if (item.group.name !== "active" || partly) return "newest first";
  const members = items.flatMap((each) =>
    each.kind === "row" && each.group === item.group ? (rows.get(each.id) ?? []) : [],
  );
  return groupAside(item.group, members);
}

/** Left and right move between the controls in a row. */
function moveInRow(event: KeyboardEvent<HTMLDivElement>): void {
  const row = (event.target as Element).closest<HTMLElement>("[data-index]");
  if (row === null) return;
  const stops = [row, ...row.querySelectorAll<HTMLElement>("a, button")];
  const now = stops.indexOf(event.target as HTMLElement);
  stops[Math.max(0, Math.min(stops.length - 1, now + (event.key === "ArrowRight" ? 1 : -1)))]?.focus();
}
