import type { SessionEvent } from "../index.ts";
import { plain } from "./output.ts";

/** An event as a line for people; some events are for programs only. */
export function progressLine(event: SessionEvent): string | undefined {
  const text = describe(event);
  return text === undefined ? undefined : plain(text);
}

function describe(event: SessionEvent): string | undefined {
  switch (event.kind) {
    case "session.claimed":
      return event.cause === "recovery" ? "taken over from a process that died" : undefined;
    case "phase.started":
      return event.phase;
    case "attempt.started": {
      const again = event.attempt + event.round > 2 ? `, round ${event.round} attempt ${event.attempt}` : "";
      return `  ${event.persona} works${again}`;
    }
    case "step":
      return `  ${event.persona}: ${event.name}`;
    case "dependency.waiting":
      return `  ${event.persona} waits for ${event.dependency} until ${new Date(event.until).toISOString()}`;
    case "wait":
      return `  ${event.persona} waits`;
    case "attempt.completed":
      return `  ${event.persona} is done: ${event.result.summary}`;
    case "attempt.failed":
      return `  ${event.persona} failed: ${event.failure.message}${afterwards(event.next)}`;
    case "attempt.diverged":
      return `  ${event.persona}: step "${event.step}" has another input than recorded; going on afresh from there`;
    case "checkpoint.sealed":
      return `  sealed checkpoint ${event.phase}`;
    case "message.received":
      return `somebody said: ${event.message.say}`;
    case "log":
      return `  ${event.persona}: ${event.message}`;
    case "attempt.reopened":
      return `  ${event.persona} is asked again: ${event.failure.message}`;
    case "persona.reused":
      return `  ${event.persona} is reused`;
    case "budget.alert":
      return `the budget of ${event.level} ${event.name} is nearly used up`;
    case "decision.recorded":
      return `decided: ${event.title}: ${event.choice}`;
    case "team.changed":
      return `the team has changed: ${event.changes.join("; ")}`;
    case "text":
    case "group.merged":
    case "fork.copied":
    case "persona.inherited":
    case "phase.inherited":
    case "phase.edited":
    case "session.directed":
    case "session.created":
    case "session.restored":
    case "session.status":
    case "phase.completed":
      return undefined;
  }
}

type Failed = Extract<SessionEvent, { kind: "attempt.failed" }>;

function afterwards(next: Failed["next"]): string {
  switch (next.kind) {
    case "attempt":
      return ` (again in ${(next.wait.waitMs / 1_000).toFixed(1)} s)`;
    case "round":
      return ` (a new round in ${(next.wait.waitMs / 1_000).toFixed(1)} s)`;
    case "help":
      return " (every round is used up)";
    case "stop":
      return "";
  }
}
