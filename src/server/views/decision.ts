import { isoTime } from "../../domain/iso-time.ts";
import type { SessionView } from "../../index.ts";
import type { DecisionView } from "../schemas/session.ts";

/** The journal stores each rejected choice as one text that includes its reason. */
export function decisionView({
  title,
  choice,
  reason,
  rejected,
  phase,
  persona,
  at,
}: SessionView["decisions"][number]): DecisionView {
  return {
    title,
    choice,
    reason,
    rejected: rejected.map((text) => ({ choice: text, reason: "" })),
    phase: phase ?? null,
    persona: persona ?? null,
    at: isoTime(at),
  };
}
