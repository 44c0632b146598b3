import { useInfiniteQuery } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useLayoutEffect, useMemo, useRef } from "react";
import { journalQuery } from "../api/queries.ts";
import type { JournalEntry, JournalFilter, SessionView } from "../api/types.ts";
import { counted } from "../format/count.ts";
import { clockSeconds } from "../format/time.ts";
import { journalTail } from "../live/journal-tail.ts";
import { useStore } from "../live/store.ts";
import { journalLine, matchesFilter } from "../sentences/journal-text.ts";
import { useScene } from "../session/context.ts";
import { StatusMark } from "../status/status.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { Icon } from "../ui/icons.tsx";
import { Waiting } from "../ui/loading.tsx";
import { Placed } from "../ui/placed.tsx";
import { journalFilters } from "../url/session-url.ts";

interface Props {
  readonly filter: JournalFilter;
  readonly onFilter: (filter: JournalFilter) => void;
}

const lineHeight = 24;
const filterNames: Readonly<Record<JournalFilter, string>> = {
  all: "All",
  transitions: "Transitions",
  failures: "Failures",
  money: "Money",
};

export function Journal({ filter, onFilter }: Props) {
  const { view } = useScene();
  const query = useInfiniteQuery(journalQuery(view.id, filter));
  useFreshMoney(view, filter === "money", query);
  const tail = useStore(journalTail);
  const entries = useMemo(() => {
    const read = query.data?.pages.flatMap(({ entries }) => entries) ?? [];
    const newest = read[0]?.seq ?? 0;
    const arrived = tail.sessionId === view.id ? tail.entries : [];
    return [...arrived.filter((entry) => entry.seq > newest && matchesFilter(entry, filter)), ...read];
  }, [query.data, tail, view.id, filter]);
  const chain = view.chainVerified ? "chain verified" : "chain not verified yet";
  return (
    <section className="journal" aria-label="Journal">
      <header className="journal-head">
        <h2>Journal</h2>
        <div className="segments" role="group" aria-label="Entries to show">
          {journalFilters.map((name) => (
            <button key={name} type="button" aria-pressed={name === filter} onClick={() => onFilter(name)}>
              {filterNames[name]}
            </button>
          ))}
        </div>
        <span className="spring" />
        <span className="ink-3 journal-count">
          {counted(view.entries, "entry", "entries")}, {chain}
        </span>
      </header>
      {query.data !== undefined ? (
        <JournalList
          key={filter}
          entries={entries}
          total={Math.max(entries.length, query.data.pages[0]?.total ?? 0)}
          onNeed={() => {
            if (query.hasNextPage && !query.isFetchingNextPage) void query.fetchNextPage();
          }}
        />
      ) : query.error === null ? (
        <Waiting rows={4} onRetry={() => void query.refetch()} />
      ) : (
        <div className="page-part">
          <ErrorNotice
            what="Could not read the journal."
            error={query.error}
            onRetry={() => void query.refetch()}
          />
        </div>
      )}
    </section>
  );
}

interface ListProps {
  readonly entries: readonly JournalEntry[];
  readonly total: number;
  readonly onNeed: () => void;
}

function JournalList({ entries, total, onNeed }: ListProps) {
  const scroll = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count: total,
    getScrollElement: () => scroll.current,
    estimateSize: () => lineHeight,
    overscan: 10,
    getItemKey: (index) => entries[index]?.seq ?? `unread ${index}`,
  });
  const shown = virtualizer.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last >= entries.length && entries.length < total) onNeed();
  }, [last, entries.length, total, onNeed]);

  // Newest first. Entries that arrive above must not move the lines being read.
  const newest = entries[0]?.seq ?? 0;
  const before = useRef(newest);
  useLayoutEffect(() => {
    const element = scroll.current;
    const arrived = entries.findIndex(({ seq }) => seq <= before.current);
    if (element !== null && element.scrollTop > 4 && arrived > 0) element.scrollTop += arrived * lineHeight;
    before.current = newest;
  }, [newest, entries]);

  if (total === 0) return <p className="ink-3 page-part">No such entries.</p>;
  return (
    <div
      className="journal-scroll"
      ref={scroll}
      role="region"
      aria-label="Journal entries, newest first"
      tabIndex={0}
    >
      <Placed at={{ height: virtualizer.getTotalSize() }} className="journal-body" role="list">
        {shown.map(({ index, start, key }) => {
          const entry = entries[index];
          return (
            <Placed
              key={key}
              at={{ transform: `translateY(${start}px)` }}
              className="journal-line"
              role="listitem"
            >
              {entry === undefined ? (
                <span className="skeleton bar width-3" />
              ) : (
                <JournalCells entry={entry} />
              )}
            </Placed>
          );
        })}
      </Placed>
    </div>
  );
}

function JournalCells({ entry }: { readonly entry: JournalEntry }) {
  const { place, text, measure, mark } = journalLine(entry);
  return (
    <>
      <span className="mono ink-3">#{entry.seq}</span>
      <time className="mono ink-3" dateTime={entry.at} title={entry.at}>
        {clockSeconds(Date.parse(entry.at))}
      </time>
      <span className="journal-mark">
        {mark === null ? null : mark.icon === "restart" ? (
          <Icon name="restart" size={13} />
        ) : (
          <StatusMark icon={mark.icon} tone={mark.tone} size={13} />
        )}
      </span>
      <span className="mono one-line journal-place" title={place}>
        {place}
      </span>
      <span className="one-line outside ink-2" title={text}>
        {text}
      </span>
      <span className="mono ink-3 end">{measure}</span>
    </>
  );
}

/** The whole list is read, so it is not read more often than this. */
const leastMs = 1_000;

interface MoneyList {
  readonly isFetching: boolean;
  readonly refetch: () => Promise<unknown>;
}

/**
 * Calls and their cost are not journal rows, so no stream sends them. They are read again when the session changes,
 * and once more if it changed during the read.
 */
function useFreshMoney(view: SessionView, isShown: boolean, { isFetching, refetch }: MoneyList): void {
  const { entries, reservedUsd, usage } = view;
  const moment = `${view.id} ${entries} ${reservedUsd} ${usage.calls} ${usage.costUsd}`;
  const read = useRef({ moment: "", atMs: 0 });
  useEffect(() => {
    if (!isShown || isFetching || read.current.moment === moment) return undefined;
    const timer = setTimeout(
      () => {
        read.current = { moment, atMs: Date.now() };
        void refetch();
      },
      Math.max(0, read.current.atMs + leastMs - Date.now()),
    );
    return () => clearTimeout(timer);
  }, [isShown, isFetching, moment, refetch]);
}
