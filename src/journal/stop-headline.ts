import { count, money, number } from "../domain/amounts.ts";
import { microsToUsd } from "../domain/budget.ts";
import type { ErrorJson } from "../domain/error-json.ts";
import { isoTime } from "../domain/iso-time.ts";
import { gateClause, gateFact } from "./facts.ts";
import { needsYouHeadline, type SessionCard } from "./session-card.ts";
import type { StopRequest } from "./signal.ts";
import type { ParkReason, SessionStatus } from "./standing.ts";

/** A session in a list. */
interface ListedSession {
  readonly status: SessionStatus;
  readonly reason?: ParkReason | null | undefined;
  /** Why the process that could drive it does not take it. */
  readonly blocked?: ErrorJson | undefined;
  readonly card: SessionCard;
}

/** One short line without a full stop, for lists and titles. Null if a session runs and needs no person, or has completed. */
export function stopHeadline(
  { status, reason, blocked, card }: ListedSession,
  { abandoned = false }: { readonly abandoned?: boolean } = {},
): string | null {
  switch (status) {
    case "queued":
      return blocked === undefined ? null : `Not taken: ${inShort(blocked.message)}`;
    case "completed":
      return null;
    case "running":
      if (blocked !== undefined) return `Not taken: ${inShort(blocked.message)}`;
      if (abandoned) return "Its process died";
      if (card.stopping !== null) return stoppingHeadlines[card.stopping];
      return (
        needsYouHeadline(card.exhausted) ??
        (card.wakeAt === null ? null : `Waits until ${isoTime(card.wakeAt)}`)
      );
    case "paused":
      return pausedHeadline(card);
    case "canceled":
      return `Canceled ${whereIn(card)}`;
    case "failed": {
      const phase = card.lastFailure?.phase ?? card.phases.find((each) => each.status === "running")?.name;
      return `Failed${phase === undefined ? "" : ` in ${phase}`}: ${inShort(card.error?.message)}`;
    }
    case "parked":
      return parkedHeadlines[reason ?? "help"](card);
  }
}

const stoppingHeadlines: Readonly<Record<StopRequest, string>> = {
  pause: "Pauses at its next step",
  cancel: "Is canceled at its next step",
};

const parkedHeadlines: Readonly<Record<ParkReason, (card: SessionCard) => string>> = {
  review: ({ review, calls, lastPhase }) =>
    (review === null ? callHeadline(calls) : undefined) ??
    `${review?.phase ?? lastPhase} waits for review${gateClause(gateFact(review?.gate))}`,
  help: helpHeadline,
  unknown(card) {
    const { effect, effects = 1 } = card.error?.details ?? {};
    if (Number(effects) > 1) return `The outcomes of ${count(Number(effects), "effect")} are unknown`;
    return effect === undefined ? inShort(card.error?.message) : `The outcome of "${effect}" is unknown`;
  },
  budget: budgetHeadline,
  breaker(card) {
    const dependency = card.error?.details["dependency"];
    return dependency === undefined ? helpHeadline(card) : `${dependency} does not answer`;
  },
  setup: ({ error }) => inShort(error?.message),
};

function callHeadline([first, ...more]: SessionCard["calls"]): string | undefined {
  if (first === undefined) return undefined;
  if (more.length > 0) return `${count(more.length + 1, "call")} wait for a person`;
  const { asks, persona, text } = first;
  return inShort(
    asks === "question" ? `${persona} asks: ${text}` : `${persona} waits for approval of ${text}`,
  );
}

function helpHeadline({ error, lastFailure }: SessionCard): string {
  const { persona, phase = lastFailure?.phase, personas = 1, attempts = 0, message } = error?.details ?? {};
  if (Number(personas) > 1) return `${count(Number(personas), "persona")} need help in ${phase}`;
  if (persona === undefined) return inShort(error?.message);
  // A persona that asked for help at once did not use up its attempts.
  const tries = Number(attempts) > 1 ? count(Number(attempts), "attempt") : "";
  if (lastFailure?.check != null && lastFailure.persona === persona)
    return `${persona} failed the check ${lastFailure.check}${tries && ` in ${tries}`}`;
  return `${persona} needs help${tries && ` after ${tries}`}: ${inShort(String(message || error?.message))}`;
}

function budgetHeadline({ error }: SessionCard): string {
  const { level, name, unit, limit, used = 0, asked = 0 } = error?.details ?? {};
  if (limit === undefined) return inShort(error?.message);
  const whose = level === "session" ? "" : level === "day" ? " for the day" : ` for ${level} ${name}`;
  const left = Math.max(0, Number(limit) - Number(used));
  if (unit !== "usd")
    return `The next call needs up to ${count(Number(asked), "token")}; ${number(left)} of ${count(Number(limit), "token")} are left${whose}`;
  const [needed, rest, all] = [asked, left, limit].map((micros) => money(microsToUsd(Number(micros))));
  return `The next call needs up to ${needed}; ${rest} of ${all} is left${whose}`;
}

function pausedHeadline(card: SessionCard): string {
  if (card.isUntrusted) return `Imported ${whereIn(card)}, not trusted yet`;
  switch (card.pausedBy) {
    case "person":
      return `Paused by a person ${whereIn(card)}`;
    case "interrupt":
      return `Interrupted ${whereIn(card)}`;
    case "direction": {
      const { only, until } = card.direction;
      return `Paused ${whereIn(card)} (${only ? "--only" : until ? "--until" : "--pause-after"})`;
    }
    case "answer":
      return `Answered by a person ${whereIn(card)}; waits for a resume`;
    case "restore":
      return `Restored from its checkpoints ${whereIn(card)}`;
    case "refusal":
    case null:
      return `Stopped ${whereIn(card)}`;
  }
}

const whereIn = ({ lastPhase }: SessionCard): string =>
  lastPhase === null ? "before the first phase was completed" : `after ${lastPhase}`;

/** Text from outside, on one line and cut to the length of a headline. */
function inShort(message = ""): string {
  const line = message.replace(/\s+/g, " ").trim().replace(/\.$/, "");
  return line.length <= 160 ? line : `${line.slice(0, 159).toWellFormed().trimEnd()}…`;
}
