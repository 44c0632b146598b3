import type { RunStatus, SessionRow } from "../api/types.ts";

export type Glyph = RunStatus | "parked";

interface PhaseGlyphs {
  readonly glyphs: readonly Glyph[];
  readonly done: number;
  readonly total: number;
}

/** One glyph per phase. A parked session has a diamond at the phase where it stopped, unless that phase failed. */
export function phaseGlyphs({ phases, phaseCount, status, situation }: SessionRow): PhaseGlyphs {
  const stoppedAt = "phase" in situation ? situation.phase : null;
  const parked = status === "parked";
  let placed = false;
  const glyphs = phases.map(({ name, status: phase }): Glyph => {
    const here = parked && !placed && (stoppedAt === null ? phase === "running" : name === stoppedAt);
    if (!here) return phase;
    placed = true;
    if (phase === "failed") return phase;
    return "parked";
  });
  const done = phases.filter(({ status }) => isDone(status)).length;
  // A phase that waits for a review is complete but not accepted.
  const unaccepted =
    situation.kind === "review" && phases.some(({ name, status }) => name === stoppedAt && isDone(status));
  return { glyphs, done: unaccepted ? done - 1 : done, total: phaseCount };
}

const isDone = (status: RunStatus): boolean =>
  status === "completed" || status === "reused" || status === "skipped";
