import type { PersonaView, PhaseView } from "../api/types.ts";
import { money } from "../format/money.ts";
import { oneLine } from "../format/plain-text.ts";
import { duration } from "../format/time.ts";
import { activityPhrase, heldPhrase, type Tense } from "../sentences/activity.ts";
import type { Phrase } from "../sentences/phrase.ts";
import { kindOf } from "./persona-state.ts";

/** The text at the right of a lane: a persona's activity, wait or result. */
export function personaLane(persona: PersonaView, now: number, tense: Tense): Phrase {
  const { status, held, activity, attempts, summary, usage } = persona;
  if (kindOf(persona) === "held" && held !== null) return heldPhrase(held, now, tense);
  if (status === "running")
    return activity === null
      ? [tense === "now" ? "starts" : "was starting"]
      : activityPhrase(activity, tense);
  if (status === "stopped") return ["stopped with the session"];
  if (status === "pending") return [];
  if (status === "reused") return ["reused, nothing paid"];
  if (status === "skipped") return ["skipped"];
  const cost = usage.costUsd === null || usage.costUsd === 0 ? "" : ` · ${money(usage.costUsd)}`;
  if (status === "failed") return [`${oneLine(attempts.at(-1)?.failure?.message ?? "failed", 120)}${cost}`];
  return [`${summary === null ? "completed" : oneLine(summary, 120)}${cost}`];
}

export function phaseLane(phase: PhaseView, now: number): string {
  if (phase.startedAt === null)
    return phase.dependsOn.length === 0 ? "" : `after ${phase.dependsOn.join(", ")}`;
  const took = duration(
    (phase.endedAt === null ? now : Date.parse(phase.endedAt)) - Date.parse(phase.startedAt),
  );
  if (phase.status === "reused") return "reused, nothing paid";
  return phase.costUsd === null ? took : `${took} · ${money(phase.costUsd)}`;
}

/** "1", "2 of 3"; in later rounds the total: "5 of 6". */
export function attemptText({
  attempts,
  attempt,
  round,
  maxAttempts,
  maxRounds,
  status,
}: PersonaView): string {
  if (attempts.length === 0) return "";
  if (status === "completed" || status === "reused") return String(attempts.length);
  if (round <= 1) return `${attempt} of ${maxAttempts}`;
  return `${attempts.length} of ${maxAttempts * Math.max(maxRounds, round)}`;
}
