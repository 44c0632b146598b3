import { alertText } from "../../domain/alert-text.ts";
import type { RecordedRow, Transition } from "../../domain/journal.ts";

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
  return {
    ...placeOf(row, trail),
    kind: "step",
    step,
    name: row.name ?? "",
    passed,
    outcome,
    tookMs: sinceMs ?? null,
  };
}

export function describeTransition(
  row: RecordedRow,
  entry: Transition,
  trail: AttemptTrail | undefined,
): JournalEntry {
  return { ...placeOf(row, trail, entry), kind: entry.kind, ...factsOf(row, entry, trail) };
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

/** What the kind says besides where and when; nothing of it is long. */
function factsOf(row: RecordedRow, entry: Transition, trail: AttemptTrail | undefined): object {
  switch (entry.kind) {
    case "session.claimed":
      // A recorded step is found by its identity and never run again; how long a replay takes is not on record.
      return { cause: entry.cause, epoch: row.epoch, stepsRunAgain: 0, tookMs: 0 };
    case "session.status": {
      const { status, reason = null, error } = entry;
      return { status, reason, message: error?.message ?? null };
    }
    case "session.directed": {
      const { only = null, from = null, until = null, pauseAfter = null } = entry;
      return { only, from, until, pauseAfter };
    }
    case "team.changed":
      return { changes: entry.changes };
    case "message.received": {
      const { message } = entry;
      return { say: message.say, note: "note" in message ? (message.note ?? null) : null };
    }
    case "phase.completed":
      return { gate: gateView(entry.gate) };
    case "checkpoint.sealed":
      return { revision: entry.revision, sha256: entry.sha256 };
    case "attempt.started":
      return { continues: entry.continues !== undefined };
    case "attempt.completed":
      return { tookMs: trail === undefined ? 0 : row.at - trail.startedAt };
    case "attempt.failed":
    case "attempt.reopened": {
      const { error: _, ...failure } = entry.failure;
      const notBefore = "wait" in entry.next ? isoTime(entry.next.wait.notBefore) : null;
      return { failure, next: entry.next.kind, notBefore, costUsd: null };
    }
    case "attempt.diverged":
      return { step: entry.step };
    case "dependency.waiting":
      return { dependency: entry.dependency, until: isoTime(entry.until) };
    case "decision.recorded":
      return { title: entry.title, choice: entry.choice };
    case "budget.alerted":
      return { alert: entry.alert.kind, level: entry.alert.level, message: alertText(entry.alert) };
    case "session.created":
    case "session.restored":
    case "phase.started":
    case "phase.edited":
    case "phase.inherited":
    case "group.merged":
    case "persona.inherited":
    case "persona.reused":
    case "fork.copied":
      return {};
  }
}

const transitionKinds: ReadonlySet<string> = new Set([
  "session.created",
  "session.restored",
  "session.claimed",
  "session.status",
  "message.received",
  "phase.started",
  "phase.completed",
  "checkpoint.sealed",
  "attempt.started",
  "attempt.completed",
  "attempt.failed",
  "budget.alerted",
]);

export const isTransition = ({ kind }: JournalEntry): boolean => transitionKinds.has(kind);

export const isFailure = (entry: JournalEntry): boolean =>
  entry.kind === "attempt.failed" || (entry.kind === "step" && entry["passed"] === false);
