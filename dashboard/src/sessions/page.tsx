import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useLocation, useSearch } from "wouter";
import { statusQuery } from "../api/queries.ts";
import { counted } from "../format/count.ts";
import { useShortcut } from "../keys/shortcuts.ts";
import { stream } from "../live/connection.ts";
import { useStale } from "../shell/connection-view.tsx";
import { useTitle } from "../shell/title.ts";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { Waiting } from "../ui/loading.tsx";
import {
  formatSessionsFilter,
  isFiltered,
  parseSessionsFilter,
  type SessionsFilter,
} from "../url/sessions-url.ts";
import { BreakerStrip } from "./breaker-strip.tsx";
import { EmptySessions } from "./empty.tsx";
import { SessionsFooter } from "./footer.tsx";
import { SessionGrid } from "./grid.tsx";
import type { Group } from "./grouping.ts";
import { listItems } from "./list-items.ts";
import { SessionsToolbar } from "./toolbar.tsx";
import { useGroups } from "./use-groups.ts";

export default function SessionsPage() {
  const query = useSearch();
  const [, navigate] = useLocation();
  const filter = useMemo(() => parseSessionsFilter(query), [query]);
  const [still, setStill] = useState(false);
  const search = useRef<HTMLInputElement>(null);
  const stale = useStale();
  const { groups, queries, rows, arrangement, waiting, states, counts, settle, position } = useGroups(
    filter,
    still,
  );
  const server = useQuery(statusQuery);
  const shownCounts = isFiltered(filter) ? counts : (server.data?.counts ?? counts);
  const items = useMemo(() => listItems(arrangement, states), [arrangement, states]);
  const teams = useMemo(() => [...new Set([...rows.values()].map(({ team }) => team))], [rows]);
  const needed = shownCounts?.parked ?? 0;
  useTitle(needed === 0 ? "Sessions" : `${needed} need you · Sessions`);
  useShortcut("/", () => search.current?.focus());

  const isReady = position !== undefined;
  useEffect(() => {
    if (isReady) stream.follow("/v1/events", position);
    // Later pages know later positions, but the stream is already past them.
    // oxlint-disable-next-line exhaustive-deps
  }, [isReady]);

  const onFilter = useCallback(
    (next: SessionsFilter) => navigate(formatSessionsFilter(next), { replace: true }),
    [navigate],
  );
  const readMore = (group: Group) => {
    const of = queries[groups.findIndex(({ name }) => name === group.name)];
    if (of?.hasNextPage === true && !of.isFetchingNextPage) void of.fetchNextPage();
  };
  const retry = () => {
    for (const each of queries) void each.refetch();
  };

  const failed = queries.find(({ error, data }) => error !== null && data === undefined);
  const waits = queries.some(({ data, error }) => data === undefined && error === null);
  return (
    <main className={`page sessions-page ${stale ? "stale" : ""}`} id="content">
      <h1 className="unseen">Sessions</h1>
      <SessionsToolbar
        filter={filter}
        counts={shownCounts}
        onFilter={onFilter}
        search={search}
        teams={teams}
      />
      <BreakerStrip />
      {waiting === 0 ? null : (
        <div className="new-rows-place">
          <button type="button" className="new-rows" onClick={settle} onPointerLeave={() => setStill(false)}>
            {counted(waiting, "new", "new")}
          </button>
        </div>
      )}
      {failed !== undefined ? (
        <div className="page-part">
          <ErrorNotice what="Could not read the sessions." error={failed.error} onRetry={retry} />
        </div>
      ) : waits ? (
        <Waiting rows={12} onRetry={retry} />
      ) : items.length === 0 ? (
        <EmptySessions filter={filter} />
      ) : (
        <SessionGrid
          key={formatSessionsFilter(filter)}
          items={items}
          rows={rows}
          states={states}
          stale={stale}
          address={formatSessionsFilter(filter)}
          onNeed={readMore}
          onStill={setStill}
        />
      )}
      <SessionsFooter />
    </main>
  );
}
