import type { SessionView } from "../api/types.ts";
import { parseTime } from "../format/time.ts";
import type { TimeScale } from "./time-scale.ts";

interface Props {
  readonly view: Pick<SessionView, "phases" | "restarts">;
  readonly scale: TimeScale;
  readonly height: number;
  readonly now: number | undefined;
}

/** Lines across all lanes: sealed checkpoints, restarts of the driver, now. */
export function TimelineOverlay({ view, scale, height, now }: Props) {
  const inside = (at: number) => at >= scale.from && at <= scale.to;
  const seals = view.phases.flatMap(({ checkpoint }) => parseTime(checkpoint?.sealedAt)).filter(inside);
  const restarts = view.restarts.flatMap((at) => parseTime(at)).filter(inside);
  return (
    <svg className="timeline-overlay" width={scale.width} height={height} aria-hidden="true">
      {seals.map((at) => {
        const x = Math.round(scale.x(at));
        return (
          <g key={at} className="overlay-seal">
            <path d={`M${x - 4.5} 0V${height}`} strokeWidth="1" />
            <path d={`M${x} 0V${height}`} strokeWidth="3.5" />
          </g>
        );
      })}
      {restarts.map((at) => (
        <path key={at} className="overlay-restart" d={`M${scale.x(at)} 0V${height}`} />
      ))}
      {now !== undefined && inside(now) ? (
        <path className="overlay-now" d={`M${Math.min(scale.width - 0.75, scale.x(now))} 0V${height}`} />
      ) : null}
    </svg>
  );
}
