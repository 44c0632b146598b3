import type { TimeScale } from "./time-scale.ts";
import type { Bar } from "./timeline-bars.ts";
import { spread } from "./timeline-bars.ts";

/** One stretch of a lane, 30 px high. What lies outside of the window is not drawn. */
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
