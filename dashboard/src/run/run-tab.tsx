import { useCallback, useState } from "react";
import { useLocation, useSearch } from "wouter";
import { Inspector } from "../inspector/inspector.tsx";
import { useShortcut } from "../keys/shortcuts.ts";
import { useNow } from "../live/clock.ts";
import { sessionSentence } from "../sentences/situation.ts";
import { sessionWord } from "../sentences/status-word.ts";
import { useScene } from "../session/context.ts";
import { StatusMark } from "../status/status.tsx";
import { PhraseText } from "../ui/phrase.tsx";
import { narrow, phone, useMedia } from "../ui/screen.ts";
import {
  formatRunQuery,
  parseRunQuery,
  type RunQuery,
  type Selection,
  sessionAddress,
} from "../url/session-url.ts";
import { Dag } from "./dag.tsx";
import { Journal } from "./journal.tsx";
import { TimelinePatterns } from "./patterns.tsx";
import { nextFailure, useSelection } from "./persona-state.ts";
import { PhaseList } from "./phase-list.tsx";
import { Timeline } from "./timeline.tsx";
import { TimelineTable } from "./timeline-table.tsx";

export default function RunTab() {
  const { view, name } = useScene();
  const search = useSearch();
  const [, navigate] = useLocation();
  const query = parseRunQuery(search);
  const isNarrow = useMedia(narrow);
  const isPhone = useMedia(phone);
  const selection = useSelection(view, query.selection);
  const [toggled, setToggled] = useState<ReadonlyMap<string, boolean>>(new Map());

  const change = useCallback(
    (part: Partial<RunQuery>) => {
      const next = formatRunQuery({ ...parseRunQuery(location.search), ...part });
      navigate(sessionAddress(name, "run", next), { replace: part.selection === undefined });
    },
    [name, navigate],
  );
  const select = useCallback(
    (next: Selection | undefined) => change({ selection: next, attempt: undefined }),
    [change],
  );
  const toggle = useCallback(
    (phase: string, expanded: boolean) => setToggled((known) => new Map(known).set(phase, expanded)),
    [],
  );
  const openPhase = useCallback(
    (phase: string) => {
      toggle(phase, true);
      const first = view.phases.find((each) => each.name === phase)?.personas[0];
      if (first !== undefined) select({ phase, persona: first.name });
    },
    [toggle, select, view.phases],
  );
  useShortcut("t", () => change({ table: !query.table }));
  useShortcut("e", () => {
    const next = nextFailure(view.phases, selection);
    if (next !== undefined) select(next);
  });
  useShortcut("Escape", () => select(undefined), query.selection !== undefined);

  return (
    <div className="run">
      <TimelinePatterns />
      <div className="run-main">
        <Sentence />
        {isPhone ? (
          <PhaseList selection={query.selection} toggled={toggled} onToggle={toggle} onSelect={select} />
        ) : (
          <>
            <Dag phases={view.phases} onPhase={openPhase} />
            {query.table ? (
              <TimelineTable onSelect={select} onPicture={() => change({ table: false })} />
            ) : (
              <Timeline
                selection={selection}
                onSelect={select}
                toggled={toggled}
                onToggle={toggle}
                onTable={() => change({ table: true })}
              />
            )}
          </>
        )}
        <Journal filter={query.journal} onFilter={(journal) => change({ journal })} />
      </div>
      {selection === undefined || (isNarrow && query.selection === undefined) ? null : (
        <Inspector
          key={`${selection.phase}/${selection.persona}`}
          selection={selection}
          query={query}
          drawer={isNarrow}
          onChange={change}
          onClose={() => select(undefined)}
        />
      )}
    </div>
  );
}

function Sentence() {
  const { view, stale } = useScene();
  const now = useNow();
  const word = sessionWord(view.status, view.reason);
  const { icon, tone } =
    stale && view.status === "running" ? ({ icon: "pending", tone: "quiet" } as const) : word;
  return (
    <div className="sentence">
      <StatusMark icon={icon} tone={tone} size={16} />
      <p className="outside">
        <PhraseText phrase={sessionSentence(view, now, stale ? "past" : "now")} />
      </p>
    </div>
  );
}
