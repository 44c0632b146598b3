import "uplot/dist/uPlot.min.css";
import { useEffect, useRef } from "react";
import uPlot from "uplot";
import { tokens } from "../format/count.ts";
import { money } from "../format/money.ts";
import { calendarDay, clock } from "../format/time.ts";
import { useStore } from "../live/store.ts";
import { theme } from "../shell/settings.ts";
import { useWidth } from "../ui/screen.ts";
import { shadesOf } from "./chart-key.tsx";
import type { Stack, UsageUnit } from "./stack.ts";

interface Props {
  readonly stack: Stack;
  readonly unit: UsageUnit;
  readonly bucket: "hour" | "day";
}

const height = 240;

/** Stacked bars in shades of ink, because color stands for status. The table beneath has the same numbers. */
export default function UsageChart({ stack, unit, bucket }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const width = useWidth(place);
  const shown = useStore(theme);
  useEffect(() => {
    const element = place.current;
    if (element === null || width === 0 || stack.times.length === 0) return;
    const styles = getComputedStyle(document.documentElement);
    const color = (name: string) => styles.getPropertyValue(name).trim();
    const font = `11px ${styles.getPropertyValue("--sans")}`;
    const now = Date.now();
    const half = bucket === "hour" ? 1800 : 43_200;
    const shades = shadesOf(stack.layers.length, shown === "dark");
    const bars = uPlot.paths.bars?.({ size: [0.72, 40], gap: 1 });
    const axis = {
      stroke: color("--ink-2"),
      font,
      grid: { stroke: color("--line"), width: 1 },
      ticks: { show: false },
    };
    // The highest layer is drawn first. The lower ones cover their part.
    const drawn = stack.layers
      .map((layer, index) => ({ layer, shade: shades[index] ?? "#888" }))
      .toReversed();
    const chart = new uPlot(
      {
        width,
        height,
        cursor: { show: false },
        legend: { show: false },
        scales: {
          x: { time: true, range: () => [(stack.times[0] ?? 0) - half, (stack.times.at(-1) ?? 0) + half] },
          y: { range: (_chart, _low, high) => [0, Math.max(high * 1.06, 0.01)] },
        },
        axes: [
          {
            ...axis,
            grid: { show: false },
            size: 28,
            splits: () => labelled(stack.times, width),
            values: (_chart, times) =>
              times.map((at) => (bucket === "hour" ? clock(at * 1000) : calendarDay(at * 1000, now))),
          },
          {
            ...axis,
            size: 58,
            values: (_chart, values) =>
              values.map((value) => (unit === "usd" ? money(value) : tokens(value))),
          },
        ],
        series: [
          {},
          ...drawn.map(({ shade }) => ({
            fill: shade,
            stroke: shade,
            width: 0,
            points: { show: false },
            ...(bars !== undefined && { paths: bars }),
          })),
        ],
      },
      [stack.times as number[], ...drawn.map(({ layer }) => layer.tops as number[])],
      element,
    );
    return () => chart.destroy();
  }, [stack, unit, bucket, width, shown]);
  return <div ref={place} className="usage-chart" aria-hidden="true" />;
}

/** As many bucket labels as there is room for. */
function labelled(times: readonly number[], width: number): number[] {
  const every = Math.max(1, Math.ceil(times.length / Math.max(1, Math.floor((width - 60) / 64))));
  return times.filter((_, index) => (times.length - 1 - index) % every === 0);
}
