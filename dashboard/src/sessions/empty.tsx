import { Link } from "wouter";
import { openPanel } from "../shell/commands.ts";
import { useCommand } from "../shell/use-command.ts";
import { CommandLine } from "../ui/copy.tsx";
import { Icon } from "../ui/icons.tsx";
import { formatSessionsFilter, isFiltered, type SessionsFilter } from "../url/sessions-url.ts";

const emptyViews = {
  "needs-you": "Nothing needs you.",
  active: "Nothing is running.",
  retrying: "Nothing is held up.",
  failed: "Nothing has failed.",
  all: "No session matches.",
} as const;

export function EmptySessions({ filter }: { readonly filter: SessionsFilter }) {
  if (filter.view !== "all" || isFiltered(filter)) {
    return (
      <div className="empty">
        <p>
          {isFiltered(filter) ? "No session matches. " : `${emptyViews[filter.view]} `}
          {isFiltered(filter) ? (
            <Link href={formatSessionsFilter({ ...filter, team: "", since: "any", text: "" })}>
              Clear filters
            </Link>
          ) : (
            <Link href="/">Show all</Link>
          )}
        </p>
      </div>
    );
  }
  return <NoSessions />;
}

function NoSessions() {
  const command = useCommand();
  return (
    <div className="empty">
      <h1>No sessions yet</h1>
      <p>
        A session is one durable run of a team on one brief. Start one here or in a terminal; it appears in
        this list by itself.
      </p>
      <CommandLine command="maestro demo" aside="offline, free, about a minute" />
      <CommandLine command={command("run", "A parking app for one city")} />
      <button type="button" className="button primary" onClick={() => openPanel.set("start")}>
        <Icon name="plus" />
        Start a session <kbd className="key">N</kbd>
      </button>
    </div>
  );
}
