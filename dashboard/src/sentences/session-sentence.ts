import type { SessionHeader, Situation } from "../api/types.ts";
import { count, counted, listed } from "../format/count.ts";
import { money } from "../format/money.ts";
import { oneLine } from "../format/plain-text.ts";
import { age, countdown } from "../format/time.ts";
import type { Tense } from "./activity.ts";
import { type Phrase, strong } from "./phrase.ts";
import { amount, gateClause, isLeft, severalNeedHelp } from "./situation.ts";

type Of<Kind extends Situation["kind"]> = Extract<Situation, { readonly kind: Kind }>;

/** The sentence above the run: status, what is held up, whether you are needed. One template per status and reason. */
export function sessionSentence(
  { situation, usage }: Pick<SessionHeader, "situation" | "usage">,
  now: number,
  tense: Tense = "now",
): Phrase {
  switch (situation.kind) {
    case "queued":
      return [strong("Queued."), ` ${queued(situation)} Nothing needs you.`];
    case "running":
      return running(situation, tense);
    case "paused":
      return [strong(`${pausedWhere(situation)}.`), " Nothing runs or spends until it is resumed."];
    case "review":
      return [
        strong(`${situation.phase} waits for your review${gateClause(situation.gate)}.`),
        situation.next.length === 0
          ? " Nothing runs until then."
          : ` ${listed(situation.next)} runs after it.`,
      ];
    case "help":
      return [strong(helpHeadline(situation)), " Nothing runs until a person resumes it."];
    case "budget":
      return [strong(budgetHeadline(situation)), " Nothing was overspent."];
    case "breaker":
      return [strong(breakerHeadline(situation, now)), ` ${breakerRest(situation, now)}`];
    case "completed":
      return [strong("Completed."), completedRest(situation, usage.savedUsd ?? 0)];
    case "failed":
      return [strong(failedHeadline(situation)), " Nothing is running or spending."];
    case "canceled":
      return [
        strong("Canceled."),
        ` ${situation.after === null ? "No phase was completed." : `Stopped after ${situation.after}.`} ${counted(situation.checkpoints, "checkpoint")} kept; a fork can go on from them.`,
      ];
  }
}

function queued({ ahead, places, inUse }: Of<"queued">): string {
  const before = ahead === 0 ? "It is next" : `${counted(ahead, "session")} before it`;
  return `${before}; ${inUse} of ${places} places are in use.`;
}

function running(situation: Of<"running">, tense: Tense): Phrase {
  const { phases, held, driverDied } = situation;
  if (driverDied)
    return [
      strong("Its process ended without a word."),
      " Recorded work is kept; it is taken up again by itself. Nothing needs you.",
    ];
  const what = phases.length === 0 ? "" : ` ${listed(phases)}`;
  if (tense === "past") return [strong(`Was running${what}.`), " It goes on as long as the server runs."];
  const waits = held.length === 0 ? "" : ` ${waitClause(held.length)}`;
  return [strong(`Running${what}.`), `${waits} Nothing needs you.`];
}

/** "2 personas wait; both go on by themselves." */
export function waitClause(waiting: number): string {
  if (waiting === 1) return "1 persona waits; it goes on by itself.";
  return `${count(waiting)} personas wait; ${waiting === 2 ? "both" : "all"} go on by themselves.`;
}

function pausedWhere({ after, how }: Of<"paused">): string {
  const where = after === null ? "before the first phase ended" : `after ${after}`;
  if (how === "asked") return `Paused ${where}, by a person`;
  return how === "interrupted" ? `Paused ${where}, interrupted` : `Paused ${where}, as asked`;
}

/** What stopped, in one sentence and the count that ended it. */
export function helpHeadline(situation: Of<"help">): string {
  const { persona, check, message, attempts, maxAttempts } = situation;
  if (situation.personas > 1) return `${severalNeedHelp(situation)}.`;
  const what =
    check === null
      ? `${persona} could not go on: ${sentenceOf(message)}`
      : `${persona} could not pass the check ${check}.`;
  // Who asked for help at once did not use anything up.
  if (attempts <= 1) return what;
  const used =
    attempts >= maxAttempts
      ? `All ${attempts} attempts are used.`
      : `${attempts} of ${maxAttempts} attempts are used.`;
  return `${what} ${used}`;
}

export function budgetHeadline(situation: Of<"budget">): string {
  const limit = amount(situation, situation.limit);
  const whose = situation.level === "session" ? "" : ` for the ${situation.level}`;
  return `The next call needs up to ${amount(situation, situation.asked)}. ${isLeft(situation)} of ${limit}${whose}.`;
}

export function breakerHeadline({ dependency, openedAt }: Of<"breaker">, now: number): string {
  return `${dependency} has not answered for ${age(now - Date.parse(openedAt))}.`;
}

export function breakerRest({ failedProbes, wakeAt }: Of<"breaker">, now: number): string {
  const probes = failedProbes === 0 ? "" : `${counted(failedProbes, "probe")} failed. `;
  if (wakeAt === null) return `${probes}It is taken up again by itself when a probe passes.`;
  return `${probes}It is taken up again by itself in ${countdown(Date.parse(wakeAt) - now)}.`;
}

export function failedHeadline({ phase, message }: Of<"failed">): string {
  return phase === null ? `Failed: ${sentenceOf(message)}` : `Failed in ${phase}: ${sentenceOf(message)}`;
}

function completedRest(
  { gates, gatesPassed, unverified, resumes }: Of<"completed">,
  savedUsd: number,
): string {
  const parts: string[] = [];
  if (unverified.length > 0) {
    const verb = unverified.length === 1 ? "has" : "have";
    parts.push(`${counted(unverified.length, "phase")} unverified: ${listed(unverified)} ${verb} no checks.`);
  } else if (gates > 0) parts.push(`${gatesPassed} of ${gates} gates passed.`);
  if (resumes > 0) parts.push(`Resumed ${counted(resumes, "time")}.`);
  if (savedUsd >= 0.005) parts.push(`${money(savedUsd)} saved.`);
  return parts.length === 0 ? "" : ` ${parts.join(" ")}`;
}

/** A message of somebody else's, ended like a sentence of ours. */
function sentenceOf(message: string): string {
  const line = oneLine(message, 200);
  return /[.!?…]$/.test(line) ? line : `${line}.`;
}
