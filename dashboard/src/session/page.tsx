import { useQuery } from "@tanstack/react-query";
import { Suspense, useCallback, useEffect, useMemo, useState } from "react";
import { Link, useLocation, useSearch } from "wouter";
import { ApiError } from "../api/api-error.ts";
import { sessionPath } from "../api/client.ts";
import { sessionQuery } from "../api/queries.ts";
import { useShortcut } from "../keys/shortcuts.ts";
import { stream } from "../live/connection.ts";
import { startTail } from "../live/journal-tail.ts";
import { followedText, followPersona } from "../live/live-persona.ts";
import { useStore } from "../live/store.ts";
import { tabTitle } from "../sentences/status-word.ts";
import { nameOf } from "../sessions/row.tsx";
import { useStale } from "../shell/connection-view.tsx";
import { followSession } from "../shell/live-data.ts";
import { useTitle } from "../shell/title.ts";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { Waiting } from "../ui/loading.tsx";
import { preloadable } from "../ui/preloadable.tsx";
import { parseRunQuery, parseSessionAddress, sessionAddress } from "../url/session-url.ts";
import { PendingLine } from "./actions.tsx";
import { SessionContext, type SessionPanel } from "./context.ts";
import { SessionHead } from "./header.tsx";
import { SessionKeys } from "./session-keys.tsx";
import { SessionPanels } from "./session-panels.tsx";
import { tabsOf, tabToShow } from "./tabs.ts";
import { useSend } from "./use-send.ts";

const RunTab = preloadable(() => import("../run/run-tab.tsx"));
const StoppedTab = preloadable(() => import("../stopped/stopped-tab.tsx"));
const ArtifactsTab = preloadable(() => import("../artifacts/artifacts-tab.tsx"));
const CheckpointsTab = preloadable(() => import("../records/checkpoints-tab.tsx"));
const DecisionsTab = preloadable(() => import("../records/decisions-tab.tsx"));
const BudgetTab = preloadable(() => import("../records/budget-tab.tsx"));
const BriefTab = preloadable(() => import("../records/brief-tab.tsx"));

// Loads the tabs that are almost always shown first, before the session's answer arrives.
void StoppedTab.preload();
void RunTab.preload();

const tabPages = {
  stopped: StoppedTab,
  run: RunTab,
  artifacts: ArtifactsTab,
  checkpoints: CheckpointsTab,
  decisions: DecisionsTab,
  budget: BudgetTab,
  brief: BriefTab,
};

export default function SessionPage() {
  const [, navigate] = useLocation();
  const search = useSearch();
  // From the address bar: the router's own path is already decoded, and a key may look like an escape.
  const address = parseSessionAddress(location.pathname);
  const name = address?.idOrKey ?? "";
  const query = useQuery(sessionQuery(name));
  const view = query.data;
  const stale = useStale();
  const { pending, send, forget } = useSend(view);
  const [panel, setPanel] = useState<SessionPanel>({ kind: "none" });
  const open = useCallback(
    (next: SessionPanel) => {
      forget();
      setPanel(next);
    },
    [forget],
  );
  const { selection } = useMemo(() => parseRunQuery(search), [search]);

  const text = useStore(followedText);
  const sessionId = view?.id;
  const entries = view?.entries;
  useEffect(() => {
    if (sessionId === undefined || entries === undefined) return;
    startTail(sessionId);
    followSession(name, sessionId);
    followPersona(text ?? "");
    const query = text === undefined ? "" : `?text=${encodeURIComponent(text)}`;
    stream.follow(sessionPath(sessionId, `/events${query}`), String(entries));
    // Only the first answer sets the start of the stream; later events advance it.
    // oxlint-disable-next-line exhaustive-deps
  }, [sessionId, name, text]);

  useTitle(view === undefined ? name : tabTitle(view.status, view.reason, nameOf(view)), true);
  useShortcut("Escape", () => navigate("/"), panel.kind === "none" && selection === undefined);
  const scene = useMemo(
    () => (view === undefined ? undefined : { view, name, stale, pending, send, open }),
    [view, name, stale, pending, send, open],
  );

  const tabs = useMemo(() => (view === undefined ? [] : tabsOf(view)), [view]);
  if (scene === undefined || view === undefined) {
    return (
      <main className="page session-page" id="content">
        {query.error === null ? (
          <Waiting rows={10} onRetry={() => void query.refetch()} />
        ) : (
          <div className="page-part">
            <h1 className="unseen">{name}</h1>
            <ErrorNotice
              what="Could not read the session."
              error={query.error}
              onRetry={() => void query.refetch()}
            />
            {query.error instanceof ApiError && query.error.status === 404 ? (
              <p className="after-error">
                <Link href="/">All sessions</Link>
              </p>
            ) : null}
          </div>
        )}
      </main>
    );
  }
  const shown = tabToShow(view, address?.tab);
  const Tab = tabPages[shown];
  return (
    <SessionContext.Provider value={scene}>
      <main className={`page session-page ${stale ? "stale" : ""}`} id="content">
        <SessionHead />
        <nav className="tabs session-tabs" aria-label="Parts of the session">
          {tabs.map(({ tab, name: title, count }) => (
            <Link
              key={tab}
              href={sessionAddress(name, tab)}
              aria-current={tab === shown ? "page" : undefined}
            >
              {title}
              {count === undefined ? null : <span className="count">{count}</span>}
            </Link>
          ))}
        </nav>
        <PendingLine />
        <Suspense fallback={<Waiting onRetry={() => location.reload()} />}>
          <Tab key={`${view.id} ${shown}`} />
        </Suspense>
        <SessionKeys tabs={tabs} />
        <SessionPanels panel={panel} onClose={() => setPanel({ kind: "none" })} />
      </main>
    </SessionContext.Provider>
  );
}
