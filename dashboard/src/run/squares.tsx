import { memo, useMemo } from "react";
import type { PhaseView } from "../api/types.ts";
import { count } from "../format/count.ts";
import { runWord, type StatusIcon, type Tone } from "../sentences/status-word.ts";
import { StatusMark } from "../status/status.tsx";
import type { PersonaKind } from "./persona-state.ts";
import { firstKind, kindCounts, squaresOf } from "./timeline-rows.ts";

const squarePitch = 11;

export const squaresHeight = (personas: number, width: number): number =>
  Math.ceil(personas / Math.max(1, Math.floor(width / squarePitch))) * squarePitch + 52;

interface Props {
  readonly phase: PhaseView;
  readonly width: number;
  readonly filter: PersonaKind | undefined;
  readonly onFilter: (kind: PersonaKind) => void;
  readonly onSelect: (persona: string) => void;
}

const kindWords: Readonly<Record<PersonaKind, { word: string; icon: StatusIcon; tone: Tone }>> = {
  failed: { ...runWord("failed"), word: "failed" },
  held: { word: "retrying", icon: "retries", tone: "parked" },
  running: { ...runWord("running"), word: "running" },
  stopped: { ...runWord("stopped"), word: "stopped" },
  completed: { ...runWord("completed"), word: "completed" },
  pending: { ...runWord("pending"), word: "pending" },
};

/** Shows a thousand personas at once, failures first. The counts select whose lanes appear beneath. */
export const Squares = memo(function Squares({ phase, width, filter, onFilter, onSelect }: Props) {
  const squares = useMemo(() => squaresOf(phase.personas), [phase.personas]);
  const shown = filter ?? firstKind(phase.personas);
  const columns = Math.max(1, Math.floor(width / squarePitch));
  const height = Math.ceil(squares.length / columns) * squarePitch;
  return (
    <div className="squares">
      <KindCounts phase={phase} shown={shown} onFilter={onFilter} />
      {/* oxlint-disable-next-line click-events-have-key-events, no-static-element-interactions -- the lanes beneath have the keys */}
      <svg
        width={columns * squarePitch}
        height={height}
        aria-hidden="true"
        onClick={(event) => {
          const box = event.currentTarget.getBoundingClientRect();
          const column = Math.floor((event.clientX - box.left) / squarePitch);
          const row = Math.floor((event.clientY - box.top) / squarePitch);
          const name = squares[row * columns + column]?.name;
          if (name !== undefined) onSelect(name);
        }}
      >
        {squares.map(({ kind, name }, index) => (
          <SquareShape
            key={name}
            kind={kind}
            x={(index % columns) * squarePitch}
            y={Math.floor(index / columns) * squarePitch}
          />
        ))}
      </svg>
    </div>
  );
});

interface KindCountsProps {
  readonly phase: PhaseView;
  readonly shown: PersonaKind;
  readonly onFilter: (kind: PersonaKind) => void;
}

/** Counts by state: failed, waiting, running, done, pending. Each count filters the lanes. */
export function KindCounts({ phase, shown, onFilter }: KindCountsProps) {
  return (
    <div className="square-counts" role="group" aria-label={`Personas of ${phase.name}`}>
      {kindCounts(phase.personas).map(({ kind, count: value }) => {
        const { word, icon, tone } = kindWords[kind];
        return (
          <button key={kind} type="button" aria-pressed={kind === shown} onClick={() => onFilter(kind)}>
            <StatusMark icon={icon} tone={tone} />
            <span className={tone === "completed" || tone === "quiet" ? "ink-2" : `tone-${tone}`}>
              {count(value)} {word}
            </span>
          </button>
        );
      })}
      <span className="ink-3">{count(phase.concurrency)} at a time</span>
    </div>
  );
}

const SquareShape = memo(function SquareShape({
  kind,
  x,
  y,
}: {
  readonly kind: PersonaKind;
  readonly x: number;
  readonly y: number;
}) {
  if (kind === "failed")
    return (
      <g transform={`translate(${x} ${y})`}>
        <rect className="square-failed" width="9" height="9" />
        <path className="square-cross" d="m2.5 2.5 4 4m0-4-4 4" />
      </g>
    );
  if (kind === "held")
    return <path className="square-held" d={`M${x + 4.5} ${y}l4.5 4.5-4.5 4.5-4.5-4.5z`} />;
  if (kind === "pending")
    return <rect className="square-pending" x={x + 1.5} y={y + 1.5} width="6" height="6" />;
  return <rect className={`square-${kind}`} x={x + 1} y={y + 1} width="7" height="7" />;
});
