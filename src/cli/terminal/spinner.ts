import { duration } from "./format.ts";
import { Painter } from "./painter.ts";
import { screenOf } from "./screen.ts";

const beginsAfterMs = 1_000;
const repaintMs = 1_000;

let end: (() => void) | undefined;
let progress = "";

/** Shows the elapsed time and the progress after a second without output. The first output replaces it. */
export function startSpinner(command: string): void {
  if (!screenOf(process.stderr).live) return;
  const painter = new Painter(process.stderr, () => screenOf(process.stderr).columns);
  const startedAt = Date.now();
  const paint = (): void =>
    painter.paint([`maestro ${command}: ${duration(Date.now() - startedAt)}${progress}`]);
  let repaint: NodeJS.Timeout | undefined;
  const first = setTimeout(() => {
    paint();
    repaint = setInterval(paint, repaintMs).unref();
  }, beginsAfterMs).unref();
  end = () => {
    end = undefined;
    clearTimeout(first);
    clearInterval(repaint);
    painter.clear();
  };
}

/** Shown with the next repaint, until the next call. */
export function tellSpinner(text?: string): void {
  progress = text === undefined ? "" : `, ${text}`;
}

export function stopSpinner(): void {
  end?.();
}
