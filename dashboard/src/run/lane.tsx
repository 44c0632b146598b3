import { memo } from "react";
import type { PersonaView, PhaseView } from "../api/types.ts";
import { StatusMark } from "../status/status.tsx";
import { ChangeTint } from "../ui/change-tint.tsx";
import { Icon } from "../ui/icons.tsx";
import { PhraseText } from "../ui/phrase.tsx";
import { attemptText, personaLane, phaseLane } from "./lane-text.ts";
import { personaWord, phaseCount, phaseWord } from "./persona-state.ts";
import type { TimeScale } from "./time-scale.ts";
import { type Bar, personaBars, phaseBars, spread } from "./timeline-bars.ts";

interface LaneProps {
  readonly scale: TimeScale;
  readonly now: number;
  /** The end of bars of running work: now, or the time of the stop. */
  readonly end: number;
  readonly stale: boolean;
}

export const PhaseCells = memo(function PhaseCells({
  phase,
  expanded,
  scale,
  now,
  end,
}: LaneProps & { readonly phase: PhaseView; readonly expanded: boolean }) {
  const { icon, tone, word } = phaseWord(phase, now);
  return (
    <>
      <span role="gridcell" className="lane-head">
        <span className="lane-fold">
          <Icon name={expanded ? "down" : "right"} size={14} />
        </span>
        <StatusMark icon={icon} tone={tone} label={word} />
        <span className="lane-name medium one-line">{phase.name}</span>
        <span className="lane-aside">{phaseCount(phase)}</span>
      </span>
      <Chart scale={scale}>
        {phaseBars(phase, !expanded, end).map((bar, index) => (
          <BarShape key={index} bar={bar} scale={scale} />
        ))}
      </Chart>
      <span role="gridcell" className="lane-text one-line ink-2">
        {phaseLane(phase, end)}
      </span>
    </>
  );
});

export const PersonaCells = memo(function PersonaCells({
  persona,
  scale,
  now,
  end,
  stale,
}: LaneProps & { readonly persona: PersonaView }) {
  const { icon, tone, word } = personaWord(persona, now);
  return (
    <>
      <span role="gridcell" className="lane-head persona-head">
        <ChangeTint value={persona.status} />
        {stale && persona.status === "running" ? (
          <StatusMark icon="pending" tone="quiet" label="was running" />
        ) : (
          <StatusMark icon={icon} tone={tone} label={word} />
        )}
        <span className="lane-name one-line">{persona.name}</span>
        <span className="lane-aside">{attemptText(persona)}</span>
      </span>
      <Chart scale={scale}>
        {personaBars(persona, end).map((bar, index) => (
          <BarShape key={index} bar={bar} scale={scale} />
        ))}
      </Chart>
      <span role="gridcell" className="lane-text one-line outside">
        <PhraseText phrase={personaLane(persona, now, stale ? "past" : "now")} />
      </span>
    </>
  );
});

function Chart({ scale, children }: { readonly scale: TimeScale; readonly children: React.ReactNode }) {
  return (
    <span role="gridcell" className="lane-chart">
      <svg width={scale.width} height="30" aria-hidden="true">
        {children}
      </svg>
    </span>
  );
}

/** One bar of a lane, 30 px high. Parts outside the window are not drawn. */
export function BarShape({ bar, scale }: { readonly bar: Bar; readonly scale: TimeScale }) {
  const left = Math.max(-2, scale.x(bar.from));
  const right = Math.min(scale.width, scale.x(bar.to));
  if (right < 0 || left > scale.width) return null;
  const width = Math.max(2, right - left);
  if (bar.kind === "span") return <path className="bar-span" d={`M${left} 11v8M${left} 15H${right}`} />;
  if (bar.kind === "backoff")
    return <path className="bar-backoff" d={`M${left} 15H${Math.max(left + 3, right)}`} />;
  return (
    <>
      <rect
        className={`bar bar-${bar.kind}`}
        x={left + 0.5}
        y="8.5"
        width={Math.max(1, width - 1)}
        height="13"
        rx="2"
      />
      {bar.kind === "failed" || bar.kind === "breaker" ? null : (
        <path
          className={`bar-steps steps-${bar.kind}`}
          d={`${ticks(bar.modelSteps, scale, 11, 8)}${ticks(bar.toolSteps, scale, 15, 4)}`}
        />
      )}
    </>
  );
}

function ticks(times: readonly number[], scale: TimeScale, top: number, height: number): string {
  const places = times.map((at) => scale.x(at)).filter((x) => x > 1 && x < scale.width - 1);
  return spread(places, 3)
    .map((x) => `M${x.toFixed(1)} ${top}v${height}`)
    .join("");
}
