import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, useMemo, useRef, useState } from "react";
import { calendarDay, clock, clockSeconds } from "../format/time.ts";
import { useShortcut } from "../keys/shortcuts.ts";
import { useScene } from "../session/context.ts";
import { useKnownNow } from "../shell/connection-view.tsx";
import { Placed } from "../ui/placed.tsx";
import { useWidth } from "../ui/screen.ts";
import type { Selection } from "../url/session-url.ts";
import { PersonaCells, PhaseCells } from "./lane.tsx";
import type { PersonaKind } from "./persona-state.ts";
import { Squares, squaresHeight } from "./squares.tsx";
import { axisTicks, knownEnd, type TimeScale, tickPrecision, timeScale, wholeWindow } from "./time-scale.ts";
import { TimelineLegend } from "./timeline-legend.tsx";
import { TimelineOverlay } from "./timeline-overlay.tsx";
import { type TimelineRow, timelineRows } from "./timeline-rows.ts";
import { useTimeWindow } from "./use-window.ts";

interface Props {
  readonly selection: Selection | undefined;
  readonly onSelect: (selection: Selection) => void;
  readonly toggled: ReadonlyMap<string, boolean>;
  readonly onToggle: (phase: string, expanded: boolean) => void;
  readonly onTable: () => void;
}

const rowHeight = 30;

export function Timeline({ selection, onSelect, toggled, onToggle, onTable }: Props) {
  const { view, stale } = useScene();
  const now = useKnownNow();
  const scroll = useRef<HTMLDivElement>(null);
  const chart = useRef<HTMLDivElement>(null);
  const area = useRef<HTMLElement>(null);
  const [filter, setFilter] = useState<PersonaKind>();
  const [focused, setFocused] = useState<string>();
  const width = useWidth(chart);
  const areaWidth = useWidth(scroll);

  const running = view.status === "running";
  const whole = useMemo(() => wholeWindow(view, now), [view, now]);
  const { shown, isZoomed, fit, zoom } = useTimeWindow(whole, chart, area);
  const scale = useMemo(() => timeScale(shown, width), [shown, width]);
  const end = knownEnd(view, now);
  useShortcut("0", fit);
  useShortcut("+", () => zoom(0.5));
  useShortcut("-", () => zoom(2));

  const rows = useMemo(() => timelineRows(view.phases, { toggled, filter }), [view.phases, toggled, filter]);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroll.current,
    estimateSize: (index) => {
      const row = rows[index];
      return row?.kind === "squares" ? squaresHeight(row.phase.personas.length, areaWidth - 60) : rowHeight;
    },
    getItemKey: (index) => keyOf(rows[index]),
    overscan: 8,
  });

  const currentKey =
    focused ?? (selection === undefined ? undefined : `${selection.phase}/${selection.persona}`);
  const found = rows.findIndex((row) => keyOf(row) === currentKey);
  const currentIndex = Math.max(0, found);
  const moveTo = (index: number, step = 1) => {
    const target = rows[index]?.kind === "squares" ? index + step : index;
    const row = rows[target];
    if (row === undefined) return;
    setFocused(keyOf(row));
    virtualizer.scrollToIndex(target);
    const line = () => scroll.current?.querySelector<HTMLElement>(`[data-index="${target}"]`);
    // Immediately if it is drawn: a fast second key must not find the row gone and the focus lost.
    const drawn = line();
    if (drawn != null) drawn.focus();
    else requestAnimationFrame(() => line()?.focus());
  };
  const act = (row: TimelineRow | undefined) => {
    if (row?.kind === "phase") onToggle(row.phase.name, !row.expanded);
    if (row?.kind === "persona") onSelect({ phase: row.phase.name, persona: row.persona.name });
  };
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    if (!(event.target instanceof HTMLElement) || event.target.role !== "row") return;
    const row = rows[currentIndex];
    if (event.key === "ArrowDown") moveTo(currentIndex + 1);
    else if (event.key === "ArrowUp") moveTo(currentIndex - 1, -1);
    else if (event.key === "Home") moveTo(0);
    else if (event.key === "End") moveTo(rows.length - 1);
    else if (event.key === "Enter" || event.key === " ") act(row);
    else if (event.key === "ArrowRight" && row?.kind === "phase") onToggle(row.phase.name, true);
    else if (event.key === "ArrowLeft" && row?.kind === "phase") onToggle(row.phase.name, false);
    else if (event.key === "ArrowLeft" && row?.kind === "persona")
      moveTo(rows.findIndex((each) => each.kind === "phase" && each.phase === row.phase));
    else return;
    event.preventDefault();
  };

  const total = virtualizer.getTotalSize();
  return (
    <section className="timeline" aria-label="Timeline" ref={area}>
      <div className="timeline-head" aria-hidden="true">
        <span className="lane-head">
          Phase, persona <span className="lane-aside">attempt</span>
        </span>
        <div className="lane-chart axis" ref={chart}>
          <Axis scale={scale} end={isZoomed ? undefined : end} running={running} now={now} />
        </div>
        <span className="lane-text" />
      </div>
      <div className="timeline-scroll" ref={scroll}>
        <Placed
          at={{ height: total }}
          className="timeline-body"
          role="treegrid"
          tabIndex={-1}
          aria-label="Phases and personas"
          aria-rowcount={rows.length}
          onKeyDown={onKeyDown}
        >
          {virtualizer.getVirtualItems().map(({ index, start, size, key }) => {
            const row = rows[index];
            if (row === undefined) return null;
            const at = { transform: `translateY(${start}px)`, height: size };
            if (row.kind === "squares") {
              return (
                <Placed
                  key={key}
                  at={at}
                  className="lane-line squares-line"
                  role="row"
                  aria-rowindex={index + 1}
                >
                  <div role="gridcell">
                    <Squares
                      phase={row.phase}
                      width={areaWidth - 60}
                      filter={filter}
                      onFilter={setFilter}
                      onSelect={(persona) => onSelect({ phase: row.phase.name, persona })}
                    />
                  </div>
                </Placed>
              );
            }
            const isSelected =
              row.kind === "persona" &&
              selection?.phase === row.phase.name &&
              selection.persona === row.persona.name;
            return (
              <Placed
                key={key}
                at={at}
                role="row"
                className={`lane-line lane ${row.kind}-lane`}
                data-index={index}
                aria-rowindex={index + 1}
                aria-level={row.kind === "phase" ? 1 : 2}
                aria-expanded={row.kind === "phase" ? row.expanded : undefined}
                aria-selected={isSelected}
                tabIndex={index === currentIndex ? 0 : -1}
                onFocus={() => setFocused(keyOf(row))}
                onClick={() => act(row)}
              >
                {row.kind === "phase" ? (
                  <PhaseCells
                    phase={row.phase}
                    expanded={row.expanded}
                    scale={scale}
                    now={now}
                    end={end}
                    stale={stale}
                  />
                ) : (
                  <PersonaCells persona={row.persona} scale={scale} now={now} end={end} stale={stale} />
                )}
              </Placed>
            );
          })}
          <div className="overlay-place" role="none">
            <TimelineOverlay view={view} scale={scale} height={total} now={running ? now : undefined} />
          </div>
        </Placed>
      </div>
      <TimelineLegend isZoomed={isZoomed} onFit={fit} onTable={onTable} />
    </section>
  );
}

function keyOf(row: TimelineRow | undefined): string {
  if (row === undefined) return "";
  if (row.kind === "persona") return `${row.phase.name}/${row.persona.name}`;
  return row.kind === "squares" ? `${row.phase.name}//` : row.phase.name;
}

interface AxisProps {
  readonly scale: TimeScale;
  readonly end: number | undefined;
  readonly running: boolean;
  readonly now: number;
}

function Axis({ scale, end, running, now }: AxisProps) {
  const ticks = axisTicks(scale, end);
  const precision = tickPrecision(ticks);
  const label = (at: number) =>
    precision === "seconds" ? clockSeconds(at) : precision === "minutes" ? clock(at) : calendarDay(at, now);
  return (
    <svg width={scale.width + 40} height="26" className="axis-labels">
      {ticks.map((at) => (
        <text key={at} x={scale.x(at)} y="17" textAnchor="middle">
          {label(at)}
        </text>
      ))}
      {end === undefined ? null : (
        <text x={scale.x(end)} y="17" textAnchor="middle" className={running ? "axis-now" : "axis-end"}>
          {running ? clockSeconds(end) : label(end)}
        </text>
      )}
    </svg>
  );
}
