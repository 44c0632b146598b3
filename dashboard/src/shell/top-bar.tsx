import { useQuery } from "@tanstack/react-query";
import { Link, useLocation } from "wouter";
import { statusQuery } from "../api/queries.ts";
import { counted } from "../format/count.ts";
import { StatusMark } from "../status/status.tsx";
import { Icon, Logo } from "../ui/icons.tsx";
import { openPanel } from "./commands.ts";
import { ConnectionMark } from "./connection-view.tsx";
import { PageMenu } from "./page-menu.tsx";

export function TopBar() {
  const { data } = useQuery(statusQuery);
  const [path] = useLocation();
  const parked = data?.counts.parked ?? 0;
  const tripped = data?.breakersNotClosed ?? 0;
  const here = (at: string) => (at === "/" ? path === "/" || path.startsWith("/s/") : path.startsWith(at));
  const current = (at: string) => (here(at) ? ("page" as const) : undefined);
  return (
    <header className="top-bar">
      <a className="skip-link" href="#content">
        Skip to content
      </a>
      <Link href="/" className="brand" aria-label="Maestro, all sessions">
        <Logo />
        <span className="brand-word">Maestro</span>
      </Link>
      <nav className="nav" aria-label="Pages">
        <Link href="/" aria-current={current("/")}>
          Sessions
          {parked === 0 ? null : (
            <span className="nav-count tint-parked tone-parked">
              {parked}
              <span className="unseen"> need you</span>
            </span>
          )}
        </Link>
        <Link href="/usage" aria-current={current("/usage")}>
          Usage
        </Link>
        <Link href="/health" aria-current={current("/health")}>
          Health
          {tripped === 0 ? null : (
            <span className="nav-breakers tone-failed">
              <StatusMark icon="breaker-open" size={16} />
              {tripped}
              <span className="unseen"> {counted(tripped, "breaker")} not closed</span>
            </span>
          )}
        </Link>
      </nav>
      <span className="spring" />
      <button type="button" className="command-button" onClick={() => openPanel.set("commands")}>
        <Icon name="search" size={14} />
        <span className="command-hint">Search or run a command</span>
        <span className="command-keys">
          <kbd className="key">Ctrl</kbd> <kbd className="key">K</kbd>
        </span>
      </button>
      <ConnectionMark />
      <PageMenu />
    </header>
  );
}
