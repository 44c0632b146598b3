import type { AttemptView, PersonaView, PhaseView } from "../api/types.ts";

type BarKind = "completed" | "running" | "stopped" | "failed" | "backoff" | "breaker" | "reused" | "span";

export interface Bar {
  readonly kind: BarKind;
  readonly from: number;
  readonly to: number;
  /** Times of steps, for ticks: tall for models, short for tools. */
  readonly modelSteps: readonly number[];
  readonly toolSteps: readonly number[];
}

/** Shows every attempt, with the waits between and inside them. */
export function personaBars(persona: PersonaView, now: number): Bar[] {
  const { attempts, status, held } = persona;
  const bars = attempts.flatMap((attempt, index) => {
    const next = attempts[index + 1];
    const own = attemptBars(attempt, status === "reused", now);
    if (attempt.status !== "failed" || attempt.endedAt === null) return own;
    const ended = Date.parse(attempt.endedAt);
    if (next !== undefined) return [...own, bar("backoff", ended, Date.parse(next.startedAt))];
    return held?.kind === "retry" ? [...own, bar("backoff", ended, now)] : own;
  });
  return bars.filter(({ from, to }) => to >= from);
}

function attemptBars(attempt: AttemptView, reused: boolean, now: number): Bar[] {
  const from = Date.parse(attempt.startedAt);
  const to = attempt.endedAt === null ? now : Date.parse(attempt.endedAt);
  const waits = attempt.waits.map((wait) =>
    bar("breaker", Date.parse(wait.from), wait.until === null ? now : Date.parse(wait.until)),
  );
  const kind = reused ? "reused" : attempt.status;
  return [
    {
      kind,
      from,
      to,
      modelSteps: attempt.modelSteps.map((offset) => from + offset),
      toolSteps: attempt.toolSteps.map((offset) => from + offset),
    },
    ...waits,
  ];
}

const bar = (kind: BarKind, from: number, to: number): Bar => ({
  kind,
  from,
  to,
  modelSteps: [],
  toolSteps: [],
});

/** A folded phase is one bar with its personas' steps. An open one is a thin bracket over its lanes. */
export function phaseBars(phase: PhaseView, folded: boolean, now: number): Bar[] {
  if (phase.startedAt === null) return [];
  const from = Date.parse(phase.startedAt);
  const to = phase.endedAt === null ? now : Date.parse(phase.endedAt);
  if (!folded) return [bar("span", from, to)];
  const kind: BarKind =
    phase.status === "reused"
      ? "reused"
      : phase.status === "failed"
        ? "failed"
        : phase.status === "running" || phase.status === "stopped"
          ? phase.status
          : "completed";
  const attempts = phase.personas.length > 50 ? [] : phase.personas.flatMap(({ attempts }) => attempts);
  const times = (pick: (attempt: AttemptView) => readonly number[]) =>
    attempts.flatMap((attempt) => pick(attempt).map((offset) => Date.parse(attempt.startedAt) + offset));
  return [
    {
      kind,
      from,
      to,
      modelSteps: times(({ modelSteps }) => modelSteps),
      toolSteps: times(({ toolSteps }) => toolSteps),
    },
  ];
}

/** Ticks closer than two pixels cannot be distinguished. */
export function spread(positions: readonly number[], least = 2): number[] {
  const sorted = [...positions].sort((a, b) => a - b);
  const kept: number[] = [];
  for (const at of sorted) if (kept.length === 0 || at - (kept.at(-1) ?? 0) >= least) kept.push(at);
  return kept;
}
