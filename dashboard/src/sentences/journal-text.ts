import { transitionKinds } from "../../../src/server/schemas/entry-facts.ts";
import type { JournalEntry, JournalFilter } from "../api/types.ts";
import { tokens } from "../format/count.ts";
import { money } from "../format/money.ts";
import { oneLine } from "../format/plain-text.ts";
import { clockSeconds, duration } from "../format/time.ts";
import { gateClause } from "./situation.ts";
import type { StatusIcon, Tone } from "./status-word.ts";

export interface JournalLine {
  /** "implementation/backend_developer/r1a1", "session" */
  readonly place: string;
  readonly text: string;
  /** Time taken or money, at the right. */
  readonly measure: string;
  readonly mark: { readonly icon: StatusIcon | "restart"; readonly tone: Tone } | null;
}

/** A journal entry as one line. */
export function journalLine(entry: JournalEntry): JournalLine {
  return { place: placeOf(entry), ...lineOf(entry) };
}

/** "implementation/backend_developer/r1a1" */
export function placeOf({ phase, persona, round, attempt }: JournalEntry): string {
  if (phase === null) return "session";
  if (persona === null) return phase;
  return round === null ? `${phase}/${persona}` : `${phase}/${persona}/r${round}a${attempt ?? 1}`;
}

type Line = Omit<JournalLine, "place">;

const line = (text: string, measure = "", mark: JournalLine["mark"] = null): Line => ({
  text,
  measure,
  mark,
});

function lineOf(entry: JournalEntry): Line {
  switch (entry.kind) {
    case "session.created":
      return line("created, checkpoint_init.json sealed");
    case "session.restored":
      return line("restored from its checkpoints", "", { icon: "restart", tone: "ink" });
    case "session.claimed": {
      const isRecovery = entry.cause === "recovery";
      const who = isRecovery ? "taken over after an unclean end" : "taken up";
      const mark = isRecovery ? ({ icon: "restart", tone: "ink" } as const) : null;
      return line(`${who}, lease epoch ${entry.epoch}`, "", mark);
    }
    case "session.status": {
      const status = entry.reason === null ? entry.status : `${entry.status}: ${entry.reason}`;
      const message = entry.message === null ? "" : `, ${oneLine(entry.message, 200)}`;
      return line(`${status}${message}`, "", { icon: entry.status, tone: toneOfStatus(entry.status) });
    }
    case "message.received":
      return line(`a person said ${entry.say}${entry.note === null ? "" : `: ${oneLine(entry.note, 200)}`}`);
    case "session.directed":
      return line(directionText(entry));
    case "team.changed":
      return line(`the team has changed: ${oneLine(entry.changes.join(", "), 200)}`);
    case "phase.started":
      return line("started");
    case "phase.edited":
      return line("edited by a person", "", { icon: "sealed", tone: "ink" });
    case "phase.inherited":
      return line("taken over from the session it was forked from", "", { icon: "reused", tone: "reused" });
    case "group.merged":
      return line("files of its personas merged");
    case "persona.inherited":
      return line("its record taken over from the session it was forked from", "", {
        icon: "reused",
        tone: "reused",
      });
    case "persona.reused":
      return line("inputs unchanged, result reused", "", { icon: "reused", tone: "reused" });
    case "fork.copied":
      return line("forked: all that is kept was copied");
    case "phase.completed":
      return line(`completed${gateClause(entry.gate)}`, "", { icon: "completed", tone: "completed" });
    case "checkpoint.sealed":
      return line(`sealed revision ${entry.revision}, ${entry.sha256.slice(0, 12)}`, "", {
        icon: "sealed",
        tone: "ink",
      });
    case "attempt.started":
      return line(entry.continues ? "attempt goes on from the one before" : "attempt started");
    case "attempt.completed":
      return line("attempt completed", duration(entry.tookMs), { icon: "completed", tone: "completed" });
    case "attempt.reopened":
    case "attempt.failed": {
      const { failure, next } = entry;
      const then = { attempt: "", round: ", next round", help: ", no attempts left", stop: ", stops" }[next];
      const wait =
        entry.notBefore === null ? "" : `, next not before ${clockSeconds(Date.parse(entry.notBefore))}`;
      const text = `${oneLine(failure.message, 200)}${then}${wait}`;
      const again = entry.kind === "attempt.reopened" ? "opened again after: " : "";
      return line(again + text, "", { icon: "failed", tone: "failed" });
    }
    case "attempt.diverged":
      return line(`${entry.step} differs from its record; goes on afresh from there`);
    case "dependency.waiting": {
      const until = clockSeconds(Date.parse(entry.until));
      return line(`waits for ${entry.dependency}, probe at ${until}`, "", { icon: "waits", tone: "parked" });
    }
    case "step": {
      const took = entry.tookMs === null ? "" : duration(entry.tookMs);
      const text =
        `${entry.step === "check" ? "check " : ""}${entry.name} ${oneLine(entry.outcome, 200)}`.trim();
      return line(text, took, stepMark(entry));
    }
    case "budget.alerted":
      return line(entry.message, "", { icon: "waits", tone: "parked" });
    case "budget.reserved":
      return line(
        `${entry.call} reserved ${entry.usd === null ? `${tokens(entry.tokens)} tokens` : money(entry.usd)}`,
      );
    case "budget.settled": {
      const spent = entry.usd === null ? "price unknown" : money(entry.usd);
      const text = `${entry.call} settled ${spent}, ${tokens(entry.inputTokens)} in, ${tokens(entry.outputTokens)} out`;
      return line(text, duration(entry.tookMs));
    }
    case "decision.recorded":
      return line(`decided: ${oneLine(entry.choice, 200)}`);
    default: {
      // A newer server may know more kinds; the name says at least that something happened.
      const other: never = entry;
      return line((other as { kind: string }).kind);
    }
  }
}

function directionText({
  only,
  from,
  until,
  pauseAfter,
}: Extract<JournalEntry, { kind: "session.directed" }>) {
  const parts = [
    only === null ? "" : `only ${only.join(", ")}`,
    from === null ? "" : `from ${from}`,
    until === null ? "" : `until ${until}`,
    pauseAfter === null ? "" : `pausing after ${pauseAfter.join(", ")}`,
  ].filter((part) => part !== "");
  return parts.length === 0 ? "to the end" : parts.join(", ");
}

function stepMark({ step, passed }: Extract<JournalEntry, { kind: "step" }>): JournalLine["mark"] {
  if (!passed) return { icon: "failed", tone: "failed" };
  return step === "check" ? { icon: "completed", tone: "completed" } : null;
}

function toneOfStatus(status: string): Tone {
  if (status === "failed" || status === "parked" || status === "running" || status === "completed")
    return status;
  return "quiet";
}

const transitions: ReadonlySet<string> = new Set(transitionKinds);

/** Whether a live entry belongs into the list as it is filtered; the server filters the same way. */
export function matchesFilter(entry: JournalEntry, filter: JournalFilter): boolean {
  switch (filter) {
    case "all":
      return true;
    case "transitions":
      return transitions.has(entry.kind);
    case "failures":
      return entry.kind === "attempt.failed" || (entry.kind === "step" && !entry.passed);
    case "money":
      // Calls have numbers of their own and come from elsewhere; no live entry is one.
      return false;
  }
}
