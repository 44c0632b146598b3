import { alertText } from "../../domain/alert-text.ts";
import type { RecordedRow, StepKind, Transition } from "../../domain/journal.ts";
import { type EntryFact, transitionKinds } from "../schemas/entry-facts.ts";
import type { JournalEntry } from "../schemas/events.ts";
import { gateView } from "../views/gate.ts";
import { isoTime } from "../views/iso-time.ts";
import type { AttemptTrail } from "./chronicle.ts";
import { outcomeOf } from "./step-outcome.ts";

/** A step's row for people. `sinceMs`: how long after the row of its attempt before it. */
export function describeStep(
  row: RecordedRow,
  trail: AttemptTrail | undefined,
  sinceMs: number | undefined,
): JournalEntry {
  const step = row.kind.slice("step.".length);
  const { passed, outcome } = outcomeOf(row);
  const fact: EntryFact = {
    kind: "step",
    step: step as StepKind,
    name: row.name ?? "",
    passed,
    outcome,
    tookMs: sinceMs ?? null,
  };
  return { ...placeOf(row, trail), ...fact };
}

export function describeTransition(
  row: RecordedRow,
  entry: Transition,
  trail: AttemptTrail | undefined,
): JournalEntry {
  return { ...placeOf(row, trail, entry), ...factsOf(row, entry, trail) };
}

type Placed = Pick<JournalEntry, "seq" | "at" | "phase" | "persona" | "round" | "attempt">;

function placeOf({ seq, at }: RecordedRow, trail: AttemptTrail | undefined, entry?: Transition): Placed {
  const named: { phase?: string; persona?: string; round?: number; attempt?: number } =
    trail?.place ?? (entry as object | undefined) ?? {};
  return {
    seq,
    at: isoTime(at),
    phase: named.phase ?? null,
    persona: named.persona ?? null,
    round: named.round ?? null,
    attempt: named.attempt ?? null,
  };
}

function factsOf(row: RecordedRow, entry: Transition, trail: AttemptTrail | undefined): EntryFact {
  switch (entry.kind) {
    case "session.claimed":
      return { kind: entry.kind, cause: entry.cause, epoch: row.epoch };
    case "session.status": {
      const { status, reason = null, error } = entry;
      return { kind: entry.kind, status, reason, message: error?.message ?? null };
    }
    case "session.directed": {
      const { only = null, from = null, until = null, pauseAfter = null } = entry;
      return { kind: entry.kind, only, from, until, pauseAfter };
    }
    case "team.changed":
      return { kind: entry.kind, changes: entry.changes };
    case "message.received": {
      const { message } = entry;
      return { kind: entry.kind, say: message.say, note: "note" in message ? (message.note ?? null) : null };
    }
    case "phase.completed":
      return { kind: entry.kind, gate: gateView(entry.gate) };
    case "checkpoint.sealed":
      return { kind: entry.kind, revision: entry.revision, sha256: entry.sha256 };
    case "attempt.started":
      return { kind: entry.kind, continues: entry.continues !== undefined };
    case "attempt.completed":
      return { kind: entry.kind, tookMs: trail === undefined ? 0 : row.at - trail.startedAt };
    case "attempt.failed":
    case "attempt.reopened": {
      const { error: _, ...failure } = entry.failure;
      const notBefore = "wait" in entry.next ? isoTime(entry.next.wait.notBefore) : null;
      return { kind: entry.kind, failure, next: entry.next.kind, notBefore };
    }
    case "attempt.diverged":
      return { kind: entry.kind, step: entry.step };
    case "dependency.waiting":
      return { kind: entry.kind, dependency: entry.dependency, until: isoTime(entry.until) };
    case "decision.recorded":
      return { kind: entry.kind, title: entry.title, choice: entry.choice };
    case "budget.alerted": {
      const { alert } = entry;
      return { kind: entry.kind, alert: alert.kind, level: alert.level, message: alertText(alert) };
    }
    case "session.created":
    case "session.restored":
    case "phase.started":
    case "phase.edited":
    case "phase.inherited":
    case "group.merged":
    case "persona.inherited":
    case "persona.reused":
    case "fork.copied":
      return { kind: entry.kind };
  }
}

const transitions: ReadonlySet<string> = new Set(transitionKinds);

export const isTransition = ({ kind }: JournalEntry): boolean => transitions.has(kind);

export const isFailure = (entry: JournalEntry): boolean =>
  entry.kind === "attempt.failed" || (entry.kind === "step" && entry["passed"] === false);
