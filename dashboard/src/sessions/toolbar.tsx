import { useQuery } from "@tanstack/react-query";
import { type RefObject, useEffect, useState } from "react";
import { Link } from "wouter";
import { teamsQuery } from "../api/queries.ts";
import type { ViewCounts } from "../api/types.ts";
import { count } from "../format/count.ts";
import { openPanel } from "../shell/commands.ts";
import { Icon } from "../ui/icons.tsx";
import {
  formatSessionsFilter,
  type SessionsFilter,
  type SessionsViewName,
  type Since,
  sessionViews,
} from "../url/sessions-url.ts";
import { countOf } from "./grouping.ts";

interface Props {
  readonly filter: SessionsFilter;
  readonly counts: ViewCounts | undefined;
  readonly onFilter: (filter: SessionsFilter) => void;
  readonly search: RefObject<HTMLInputElement | null>;
  /** Teams of the visible rows, because a session's team may no longer be registered. */
  readonly teams: readonly string[];
}

const viewNames: Readonly<Record<SessionsViewName, string>> = {
  "needs-you": "Needs you",
  active: "Active",
  all: "All",
  retrying: "Retrying",
  failed: "Failed",
};

const sinceNames: Readonly<Record<Since, string>> = {
  "1d": "1 day",
  "7d": "7 days",
  "30d": "30 days",
  any: "ever",
};

export function SessionsToolbar({ filter, counts, onFilter, search, teams }: Props) {
  const registered = useQuery(teamsQuery);
  const names = [...new Set([...(registered.data?.teams.map(({ name }) => name) ?? []), ...teams])].sort();
  return (
    <div className="toolbar">
      <nav className="views" aria-label="Views">
        {sessionViews.map((view) => (
          <Link
            key={view}
            href={formatSessionsFilter({ ...filter, view })}
            className={`view view-${view}`}
            aria-current={view === filter.view ? "true" : undefined}
          >
            {viewNames[view]}
            {counts === undefined ? null : <span className="ink-3"> {count(countOf(view, counts))}</span>}
          </Link>
        ))}
      </nav>
      <span className="spring" />
      <label className="picker">
        <Icon name="filter" size={14} />
        <span>Team:</span>
        <select value={filter.team} onChange={(event) => onFilter({ ...filter, team: event.target.value })}>
          <option value="">any</option>
          {names.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label className="picker picker-since">
        <span>Since:</span>
        <select
          value={filter.since}
          onChange={(event) => onFilter({ ...filter, since: event.target.value as Since })}
        >
          {Object.entries(sinceNames).map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <TextFilter key={filter.text} filter={filter} onFilter={onFilter} search={search} />
      <button type="button" className="button primary start-button" onClick={() => openPanel.set("start")}>
        <Icon name="plus" />
        <span className="wide-only">Start a session</span>
        <span className="phone-only">Start</span>
        <kbd className="key wide-only">N</kbd>
      </button>
    </div>
  );
}

/** Waits a moment after typing before it changes the address. */
function TextFilter({ filter, onFilter, search }: Pick<Props, "filter" | "onFilter" | "search">) {
  const [text, setText] = useState(filter.text);
  useEffect(() => {
    if (text === filter.text) return;
    const timer = setTimeout(() => onFilter({ ...filter, text }), 200);
    return () => clearTimeout(timer);
  }, [text, filter, onFilter]);
  return (
    <label className="search-field">
      <Icon name="search" size={14} />
      <span className="unseen">Filter by key, brief or id</span>
      <input
        ref={search}
        type="search"
        value={text}
        placeholder="Filter by key, brief, id"
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") event.currentTarget.blur();
        }}
      />
      <kbd className="key">/</kbd>
    </label>
  );
}
