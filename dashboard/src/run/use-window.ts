import { type RefObject, useCallback, useEffect, useMemo, useState } from "react";
import { panned, type TimeWindow, zoomed } from "./time-scale.ts";

/** The visible part of time. The whole, unless the reader zoomed in. */
export function useTimeWindow(
  whole: TimeWindow,
  chart: RefObject<HTMLElement | null>,
  /** The element that receives wheel events: the chart with its lanes. */
  area: RefObject<HTMLElement | null>,
) {
  const [chosen, setChosen] = useState<TimeWindow>();
  const shown = chosen ?? whole;
  const zoom = useCallback(
    (factor: number, at = 0.5) => setChosen((now) => zoomed(now ?? whole, whole, factor, at)),
    [whole],
  );
  useEffect(() => {
    const element = area.current;
    if (element === null) return;
    const onWheel = (event: WheelEvent) => {
      const box = chart.current?.getBoundingClientRect() ?? element.getBoundingClientRect();
      if (event.ctrlKey || event.metaKey) {
        event.preventDefault();
        const at = Math.max(0, Math.min(1, (event.clientX - box.left) / box.width));
        zoom(Math.exp(event.deltaY / 300), at);
      } else if (event.deltaX !== 0) {
        event.preventDefault();
        setChosen((now) => (now === undefined ? now : panned(now, whole, event.deltaX / box.width)));
      }
    };
    // Not passive, because the browser would zoom the whole page.
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => element.removeEventListener("wheel", onWheel);
  }, [chart, area, whole, zoom]);
  const fit = useCallback(() => setChosen(undefined), []);
  return useMemo(() => ({ shown, isZoomed: chosen !== undefined, fit, zoom }), [shown, chosen, fit, zoom]);
}
