import { useMemo, useRef } from "react";
import { Link } from "wouter";
import type { StoppedPersona } from "../api/types.ts";
import { clock } from "../format/time.ts";
import { BarShape } from "../run/lane.tsx";
import { TimelinePatterns } from "../run/patterns.tsx";
import { timeScale, wholeWindow } from "../run/time-scale.ts";
import { personaBars } from "../run/timeline-bars.ts";
import { TimelineOverlay } from "../run/timeline-overlay.tsx";
import { sessionWord } from "../sentences/status-word.ts";
import { useScene } from "../session/context.ts";
import { StatusMark } from "../status/status.tsx";
import { useWidth } from "../ui/screen.ts";
import { sessionAddress } from "../url/session-url.ts";
import { stopLanes } from "./stopped-persona.ts";

/** The timeline in three lanes. */
export function WhereStopped({ of }: { readonly of?: StoppedPersona | undefined }) {
  const { view, name } = useScene();
  const chart = useRef<HTMLDivElement>(null);
  const width = useWidth(chart);
  const end = Date.parse(view.since);
  const whole = useMemo(() => wholeWindow(view, end), [view, end]);
  const scale = useMemo(() => timeScale(whole, width), [whole, width]);
  const lanes = useMemo(() => stopLanes(view, of), [view, of]);
  if (lanes.length === 0) return null;
  const word = sessionWord(view.status, view.reason).word.toLowerCase();
  return (
    <section className="where-stopped" aria-label="Where it stopped">
      <TimelinePatterns />
      <header className="part-head">
        <h3>Where it stopped</h3>
        <span className="ink-3">
          {clock(whole.from)} to {clock(end)}, {word} since
        </span>
        <span className="spring" />
        <Link href={sessionAddress(name, "run")}>Whole timeline</Link>
      </header>
      <div className="stop-lanes">
        {lanes.map((lane, index) => (
          <div key={lane.name} className="stop-lane">
            <span className="stop-lane-name">
              <StatusMark
                icon={lane.status}
                tone={lane.status === "paused" ? "quiet" : lane.status}
                label={lane.status}
              />
              <span className="one-line">{lane.name}</span>
            </span>
            <div className="stop-lane-chart" ref={index === 0 ? chart : undefined}>
              <svg width={width} height="30" aria-hidden="true">
                {lane.personas
                  .slice(0, 50)
                  .flatMap((persona) =>
                    personaBars(persona, end).map((bar, position) => (
                      <BarShape key={`${persona.name} ${position}`} bar={bar} scale={scale} />
                    )),
                  )}
              </svg>
            </div>
          </div>
        ))}
        <div className="stop-overlay">
          <TimelineOverlay view={view} scale={scale} height={lanes.length * 31} now={undefined} />
        </div>
      </div>
    </section>
  );
}
