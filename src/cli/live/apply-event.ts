import type { SessionEvent } from "../../index.ts";
import type { StepKind } from "../../journal/journal.ts";
import { applyFact } from "../../journal/progress.ts";
import { isRecorded, type LiveEvent } from "../../journal/public-fact.ts";
import type { LiveActivity, LiveSession } from "./live-state.ts";

const shownTextLength = 60;

export function applyEvent(session: LiveSession, event: SessionEvent): LiveSession {
  const { persona } = event;
  const live = new Map(session.live);
  if (!isRecorded(event)) {
    live.set(event.persona, activityOf(session.live.get(event.persona), event));
    return { ...session, live };
  }
  const progress = applyFact(session.progress, event);
  if (progress === session.progress) return session;
  // A recorded fact replaces the activity that led to it.
  if (persona !== null) live.delete(persona);
  return { ...session, progress, live };
}

function activityOf(before: LiveActivity | undefined, event: LiveEvent): LiveActivity {
  switch (event.kind) {
    case "step.began":
      return {
        text: describeBegun(event.step, event.name),
        doing: { step: event.step, since: Date.parse(event.at) },
      };
    case "log":
      return { text: event.message, doing: before?.doing };
    case "text": {
      const said = before?.text.startsWith("“") === true ? before.text.slice(1) : "";
      const text = `“${(said + event.delta).replaceAll(/\s+/g, " ").slice(-shownTextLength)}`;
      return { text, doing: before?.doing };
    }
  }
}

function describeBegun(step: StepKind, name: string): string {
  switch (step) {
    case "model":
      return `asks ${name}`;
    case "check":
      return `checks ${name}`;
    case "command":
      return `runs ${name.replace(/^command\//, "")}`;
    case "function":
    case "tool":
    case "heal":
    case "wait":
      return name;
  }
}
