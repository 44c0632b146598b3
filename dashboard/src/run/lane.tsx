import { memo } from "react";
import type { PersonaView, PhaseView } from "../api/types.ts";
import { StatusMark } from "../status/status.tsx";
import { ChangeTint } from "../ui/change-tint.tsx";
import { Icon } from "../ui/icons.tsx";
import { PhraseText } from "../ui/phrase.tsx";
import { BarShape } from "./bar-shape.tsx";
import { attemptText, personaLane, phaseLane } from "./lane-text.ts";
import { personaWord, phaseCount, phaseWord } from "./persona-state.ts";
import type { TimeScale } from "./time-scale.ts";
import { personaBars, phaseBars } from "./timeline-bars.ts";

interface LaneProps {
  readonly scale: TimeScale;
  readonly now: number;
  /** Where bars of running work end: now, or where the session stopped. */
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
