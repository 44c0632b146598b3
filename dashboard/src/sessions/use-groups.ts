import { useInfiniteQuery } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";
import { sessionsQuery } from "../api/queries.ts";
import type { SessionRow, ViewCounts } from "../api/types.ts";
import { currentTick } from "../live/clock.ts";
import { liveRows } from "../live/rows.ts";
import { useStore } from "../live/store.ts";
import { type SessionsFilter, sinceTime } from "../url/sessions-url.ts";
import { ArrangementKeeper } from "./arrangement.ts";
import { type Group, type GroupName, groupsOf, passesFilter } from "./grouping.ts";
import type { GroupState } from "./list-items.ts";

function useGroup(group: Group | undefined, filter: SessionsFilter, since: string | undefined) {
  const { text, team } = filter;
  return useInfiniteQuery({
    ...sessionsQuery({ status: group?.status ?? "", text: text.trim(), team, since }),
    enabled: group !== undefined,
  });
}

/** Everything that the list shows: pages of the server, newer rows of the stream, and their order. */
export function useGroups(filter: SessionsFilter, still: boolean) {
  const groups = useMemo(() => groupsOf(filter.view), [filter.view]);
  const since = useMemo(() => sinceTime(filter.since, currentTick()), [filter.since]);
  // At most three groups: the number of hooks cannot vary at run time.
  const first = useGroup(groups[0], filter, since);
  const second = useGroup(groups[1], filter, since);
  const third = useGroup(groups[2], filter, since);
  const queries = [first, second, third].slice(0, groups.length);
  const live = useStore(liveRows);

  const [firstPages, secondPages, thirdPages] = [first.data, second.data, third.data];
  const pages = useMemo(
    () => [firstPages, secondPages, thirdPages].slice(0, groups.length),
    [firstPages, secondPages, thirdPages, groups],
  );
  const { rows, loaded, streamed } = useMemo(() => {
    const rows = new Map<string, SessionRow>();
    const loaded = new Map<GroupName, readonly string[]>();
    groups.forEach((group, index) => {
      const listed = pages[index]?.pages.flatMap(({ sessions }) => sessions) ?? [];
      for (const row of listed) rows.set(row.id, newer(live.get(row.id), row));
      loaded.set(group.name, [...new Set(listed.map(({ id }) => id))]);
    });
    const streamed = [...live.values()].filter((row) => passesFilter(row, filter, since));
    for (const row of streamed) if (!rows.has(row.id)) rows.set(row.id, row);
    return { rows, loaded, streamed };
  }, [groups, live, filter, since, pages]);

  const [settled, setSettled] = useState(0);
  const [keeper] = useState(() => new ArrangementKeeper());
  const shape = `${settled} ${JSON.stringify(filter)}`;
  const { arrangement, waiting } = useMemo(
    () => keeper.arrange(shape, { groups, loaded, rows, streamed, still }),
    [keeper, groups, loaded, rows, streamed, still, shape],
  );

  /** Moves the waiting rows to their places, even if the list has the pointer or the focus. */
  const settle = useCallback(() => setSettled((times) => times + 1), []);

  const states = useMemo(
    () =>
      groups.map(
        (group, index): GroupState => ({
          group,
          total: pages[index]?.pages[0]?.total ?? 0,
          loaded: loaded.get(group.name)?.length ?? 0,
        }),
      ),
    [groups, loaded, pages],
  );
  const counts: ViewCounts | undefined = pages[0]?.pages[0]?.counts;
  return {
    groups,
    queries,
    rows,
    arrangement,
    waiting,
    states,
    counts,
    settle,
    position: pages[0]?.pages[0]?.position,
  };
}

const newer = (live: SessionRow | undefined, listed: SessionRow): SessionRow =>
  live !== undefined && live.updatedAt >= listed.updatedAt ? live : listed;
