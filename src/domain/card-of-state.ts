import { plannedPhases } from "./planned.ts";
import { cardError, cardLimits, cut, type SessionCard } from "./session-card.ts";
import type { PhaseState, SessionState } from "./session-state.ts";

/** The card of a session that has none on record: an older version wrote it, or it came back from its checkpoints. */
export function cardOfState(state: SessionState): SessionCard {
  const { created, phases, direction, error, wakeAt } = state;
  const planned = plannedPhases(created.definition);
  const done = [...phases].filter(([, { status }]) => status === "completed");
  const review = done.find(([, phase]) => phase.review === "awaiting");
  const budget = (created.definition as { budget?: { tokens?: number; usd?: number } | null } | null)?.budget;
  return {
    brief: cut(created.brief, cardLimits.textLength),
    model: created.model ?? null,
    fork: created.fork === undefined ? null : { session: created.fork.session, at: created.fork.at },
    phases: planned.slice(0, cardLimits.phases).map(({ name }) => {
      const phase = phases.get(name);
      const gate = phase?.status === "completed" ? phase.gate : undefined;
      return { name, status: statusOf(phase), ...(gate !== undefined && { gate }) };
    }),
    phaseCount: planned.length,
    lastPhase: done.at(-1)?.[0] ?? null,
    checkpoints: done.filter(([, { checkpoint }]) => checkpoint !== undefined).length,
    resumes: 0,
    direction: {
      only: direction.only !== undefined,
      until: direction.until !== undefined,
      pauseAfter: (direction.pauseAfter ?? []).length > 0,
    },
    pauseSaid: state.messages.some(({ say }) => say === "pause"),
    review: review === undefined ? null : reviewOf(...review),
    error: error === undefined ? null : cardError(error),
    wakeAt: wakeAt ?? null,
    held: [],
    lastFailure: null,
    limit: {
      ...(budget?.tokens !== undefined && { tokens: budget.tokens }),
      ...(budget?.usd !== undefined && { microUsd: Math.round(budget.usd * 1_000_000) }),
    },
    raised: state.budgets.get("session") ?? {},
  };
}

function statusOf(phase: PhaseState | undefined): SessionCard["phases"][number]["status"] {
  if (phase?.status !== "completed") return phase?.status ?? "pending";
  const personas = [...phase.personas.values()];
  return personas.length > 0 && personas.every(({ reused }) => reused) ? "reused" : "completed";
}

function reviewOf(phase: string, { gate, base, tree }: PhaseState): SessionCard["review"] {
  return {
    phase,
    ...(gate !== undefined && { gate }),
    ...(base !== undefined && { base }),
    ...(tree !== undefined && { tree }),
  };
}
