import { Painter } from "./painter.ts";
import { screenOf } from "./screen.ts";
import { duration } from "./words.ts";

const beginsAfterMs = 1_000;
const repaintMs = 1_000;

let end: (() => void) | undefined;

/** After a second without a word, a line says that the command is still at it; the first thing that is said takes its place. */
export function askForPatience(command: string): void {
  if (!screenOf(process.stderr).live) return;
  const painter = new Painter(process.stderr, () => screenOf(process.stderr).columns);
  const startedAt = Date.now();
  const paint = (): void => painter.paint([`maestro ${command}: ${duration(Date.now() - startedAt)}`]);
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

export function endPatience(): void {
  end?.();
}
