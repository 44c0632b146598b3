import type { PersonaView, SessionPageView } from "../schemas/session.ts";

type PhaseView = SessionPageView["phases"][number];

const isUnfinished = ({ status }: PhaseView): boolean => status === "running" || status === "failed";

/**
 * The journal shows unfinished work as running even when its session has stopped. This shows such work as stopped
 * at the same time as the session.
 */
export function withStoppedWork(view: SessionPageView): SessionPageView {
  if (view.status === "running" || !view.phases.some(isUnfinished)) return view;
  const stopPersona = (persona: PersonaView): PersonaView => {
    if (persona.status !== "running") return persona;
    const attempts = persona.attempts.map((attempt) =>
      attempt.status === "running"
        ? { ...attempt, status: "stopped" as const, endedAt: attempt.endedAt ?? view.since }
        : attempt,
    );
    return { ...persona, status: "stopped", attempts };
  };
  const stopPhase = (phase: PhaseView): PhaseView =>
    isUnfinished(phase)
      ? {
          ...phase,
          status: phase.status === "failed" ? "failed" : "stopped",
          endedAt: phase.endedAt ?? view.since,
          personas: phase.personas.map(stopPersona),
        }
      : phase;
  return { ...view, phases: view.phases.map(stopPhase) };
}
