import { alertText } from "../domain/alert-text.ts";
import type { SessionEvent } from "../index.ts";
import { duration, plain } from "./terminal/words.ts";

/** An event as a line for people; some events are for programs only. */
export function progressLine(event: SessionEvent): string | undefined {
  const text = describe(event);
  return text === undefined ? undefined : plain(text);
}

function describe(event: SessionEvent): string | undefined {
  switch (event.kind) {
    case "session.claimed":
      return event.cause === "recovery" ? "taken over from a process that is gone" : undefined;
    case "session.restored":
      return "brought back from its checkpoints";
    case "team.changed":
      return `the team has changed: ${event.changes.join("; ")}`;
    case "phase.started":
      return event.phase;
    case "phase.inherited":
      return `${event.phase}: taken over`;
    case "phase.edited":
      return `${event.phase}: edited by a person`;
    case "persona.reused":
      return `  ${event.persona}: nothing it reads has changed, its result is reused`;
    case "attempt.started": {
      const again = event.attempt + event.round > 2 ? `, round ${event.round} attempt ${event.attempt}` : "";
      return `  ${event.persona} works${again}`;
    }
    case "step":
      // Without a persona it was copied from the session that this one is a fork of.
      if (event.persona === "") return undefined;
      return `  ${event.persona}: ${event.name}`;
    case "dependency.waiting":
      return `  ${event.persona} waits for ${event.dependency} until ${new Date(event.until).toISOString()}`;
    case "wait":
      return `  ${event.persona} waits${event.until === undefined ? "" : ` ${duration(event.until - event.at)}`}`;
    case "attempt.completed": {
      const healed = event.healed === undefined ? "" : ` (healed: ${event.healed.action})`;
      return `  ${event.persona} is done: ${event.result.summary}${healed}`;
    }
    case "attempt.failed":
      return `  ${event.persona} failed: ${event.failure.message}${afterwards(event.next)}`;
    case "attempt.reopened":
      return `  ${event.persona} has to go on: ${event.failure.message}${afterwards(event.next)}`;
    case "attempt.diverged":
      return `  ${event.persona}: step "${event.step}" has another input than recorded; going on afresh from there`;
    case "phase.completed":
      return gateLine(event);
    case "checkpoint.sealed":
      return `  sealed checkpoint ${event.phase}`;
    case "message.received":
      return `somebody said: ${event.message.say}`;
    case "decision.recorded":
      return `  decided: ${event.title}`;
    case "budget.alerted":
      return `! ${alertText(event.alert)}`;
    case "log":
      return `  ${event.persona}: ${event.message}`;
    case "session.created":
    case "session.directed":
    case "session.status":
    case "fork.copied":
    case "persona.inherited":
    case "group.merged":
    case "text":
    case "step.began":
      return undefined;
  }
}

type Event<Kind extends SessionEvent["kind"]> = Extract<SessionEvent, { kind: Kind }>;

function gateLine({ phase, gate, awaitsReview }: Event<"phase.completed">): string | undefined {
  const review = awaitsReview ? `${phase} waits for a review` : undefined;
  if (gate?.score === undefined || gate.threshold === undefined) return review && `  ${review}`;
  const verdict = `  gate of ${phase} ${gate.verdict}: ${gate.score.toFixed(2)} of ${gate.threshold.toFixed(2)}`;
  return review === undefined ? verdict : `${verdict}; ${review}`;
}

function afterwards(next: Event<"attempt.failed">["next"]): string {
  switch (next.kind) {
    case "attempt":
      return ` (again in ${duration(next.wait.waitMs)})`;
    case "round":
      return ` (a new round in ${duration(next.wait.waitMs)})`;
    case "help":
      return " (every round is used up)";
    case "stop":
      return "";
  }
}
