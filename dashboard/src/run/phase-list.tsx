import { useState } from "react";
import { count } from "../format/count.ts";
import { useNow } from "../live/clock.ts";
import { useScene } from "../session/context.ts";
import { StatusMark } from "../status/status.tsx";
import { Icon } from "../ui/icons.tsx";
import { PhraseText } from "../ui/phrase.tsx";
import type { Selection } from "../url/session-url.ts";
import { attemptText, personaLane, phaseLane } from "./lane-text.ts";
import { type PersonaKind, personaWord, phaseCount, phaseWord } from "./persona-state.ts";
import { KindCounts } from "./squares.tsx";
import { firstKind, timelineRows } from "./timeline-rows.ts";

interface Props {
  readonly selection: Selection | undefined;
  readonly toggled: ReadonlyMap<string, boolean>;
  readonly onToggle: (phase: string, expanded: boolean) => void;
  readonly onSelect: (selection: Selection) => void;
}

const mostPersonas = 200;

/** On a phone, a list of personas with their activity replaces the timeline. */
export function PhaseList({ selection, toggled, onToggle, onSelect }: Props) {
  const { view, stale } = useScene();
  const now = useNow();
  const [filter, setFilter] = useState<PersonaKind>();
  const rows = timelineRows(view.phases, { toggled, filter });
  return (
    <ul className="phase-list" aria-label="Phases and personas">
      {rows.slice(0, mostPersonas).map((row) => {
        if (row.kind === "phase") {
          const { icon, tone, word } = phaseWord(row.phase, now);
          return (
            <li key={row.phase.name}>
              <button
                type="button"
                className="phase-item"
                aria-expanded={row.expanded}
                onClick={() => onToggle(row.phase.name, !row.expanded)}
              >
                <Icon name={row.expanded ? "down" : "right"} size={14} />
                <StatusMark icon={icon} tone={tone} label={word} />
                <span className="medium one-line">{row.phase.name}</span>
                <span className="lane-aside">{phaseCount(row.phase)}</span>
                <span className="phase-item-text ink-2">{phaseLane(row.phase, now)}</span>
              </button>
            </li>
          );
        }
        if (row.kind === "squares")
          return (
            <li key={`${row.phase.name}//`} className="phase-counts">
              <KindCounts
                phase={row.phase}
                shown={filter ?? firstKind(row.phase.personas)}
                onFilter={setFilter}
              />
            </li>
          );
        const { icon, tone, word } = personaWord(row.persona, now);
        const isSelected = selection?.phase === row.phase.name && selection.persona === row.persona.name;
        return (
          <li key={`${row.phase.name}/${row.persona.name}`}>
            <button
              type="button"
              className="phase-item persona-item lane"
              aria-current={isSelected ? "true" : undefined}
              onClick={() => onSelect({ phase: row.phase.name, persona: row.persona.name })}
            >
              <StatusMark icon={icon} tone={tone} label={word} />
              <span className="one-line">{row.persona.name}</span>
              <span className="lane-aside">{attemptText(row.persona)}</span>
              <span className="phase-item-text outside">
                <PhraseText phrase={personaLane(row.persona, now, stale ? "past" : "now")} />
              </span>
            </button>
          </li>
        );
      })}
      {rows.length > mostPersonas ? (
        <li className="phase-counts ink-3">
          The first {mostPersonas} of {count(rows.length)} lines.
        </li>
      ) : null}
    </ul>
  );
}
