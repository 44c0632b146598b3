import { Suspense } from "react";
import { Link, Route, Switch, useLocation } from "wouter";
import { useShortcut } from "./keys/shortcuts.ts";
import SessionsPage from "./sessions/page.tsx";
import { Announcer } from "./shell/announcer.tsx";
import { openPanel } from "./shell/commands.ts";
import { ConnectionStrip } from "./shell/connection-view.tsx";
import { ErrorBoundary } from "./shell/error-boundary.tsx";
import { SignOutStrip } from "./shell/page-menu.tsx";
import { Panels } from "./shell/panels.tsx";
import { TopBar } from "./shell/top-bar.tsx";
import { Waiting } from "./ui/loading.tsx";
import { preloadable } from "./ui/preloadable.tsx";

const SessionPage = preloadable(() => import("./session/page.tsx"));
const UsagePage = preloadable(() => import("./usage/page.tsx"));
const HealthPage = preloadable(() => import("./health/page.tsx"));

/** Loads the page of the address first, and the others when the browser is idle. */
export async function preloadFor(path: string): Promise<void> {
  if (path.startsWith("/s/")) await SessionPage.preload();
  else if (path.startsWith("/usage")) await UsagePage.preload();
  else if (path.startsWith("/health")) await HealthPage.preload();
}

export function App() {
  const [path, navigate] = useLocation();
  useShortcut("g s", () => navigate("/"));
  useShortcut("g u", () => navigate("/usage"));
  useShortcut("g h", () => navigate("/health"));
  useShortcut("n", () => openPanel.set("start"));
  useShortcut("?", () => openPanel.set("help"));
  useShortcut("mod+k", () => openPanel.set("commands"));
  return (
    <div className="app">
      <TopBar />
      <ConnectionStrip />
      <SignOutStrip />
      <ErrorBoundary key={path.split("/").slice(0, 3).join("/")}>
        <Suspense fallback={<Waiting onRetry={() => location.reload()} />}>
          <Switch>
            <Route path="/" component={SessionsPage} />
            <Route path="/s/:idOrKey/:tab?" component={SessionPage} />
            <Route path="/usage" component={UsagePage} />
            <Route path="/health" component={HealthPage} />
            <Route component={NotFound} />
          </Switch>
        </Suspense>
      </ErrorBoundary>
      <Panels />
      <Announcer />
    </div>
  );
}

function NotFound() {
  return (
    <main className="page" id="content">
      <div className="empty">
        <h1>There is no such page</h1>
        <p>
          The address may be cut off. <Link href="/">All sessions</Link>
        </p>
      </div>
    </main>
  );
}
