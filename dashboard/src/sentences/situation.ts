import type { GateView, SessionRow, Situation } from "../api/types.ts";
import { count, counted, listed, score } from "../format/count.ts";
import { limitMoney, money } from "../format/money.ts";
import { oneLine } from "../format/plain-text.ts";
import { age } from "../format/time.ts";
import { activityPhrase, type Tense } from "./activity.ts";
import { held, type Phrase } from "./phrase.ts";

/** The column "now, or how it ended": one line, no full stop. */
export function situationPhrase(
  { situation, usage }: Pick<SessionRow, "situation" | "usage">,
  now: number,
  tense: Tense = "now",
): Phrase {
  switch (situation.kind) {
    case "queued":
      return [queued(situation)];
    case "running":
      return running(situation, tense);
    case "paused":
      return [paused(situation)];
    case "review":
      return [
        `${situation.phase} is ready${situation.filesChanged === 0 ? "" : `: ${counted(situation.filesChanged, "file")} changed`}${gateClause(situation.gate)}`,
      ];
    case "help":
      if (situation.personas > 1) return [severalNeedHelp(situation)];
      return [`${situation.persona}: ${helpReason(situation)}${attemptsUsed(situation)}`];
    case "budget":
      return [`next call needs up to ${amount(situation, situation.asked)}, ${isLeft(situation)}`];
    case "breaker": {
      const open = age(now - Date.parse(situation.openedAt));
      const probes =
        situation.failedProbes === 0 ? "" : `, ${counted(situation.failedProbes, "probe")} failed`;
      return [`${situation.dependency} stayed open for ${open}${probes}`];
    }
    case "completed":
      return completed(situation, usage.savedUsd ?? 0);
    case "failed":
      return [failed(situation)];
    case "canceled": {
      const where =
        situation.after === null
          ? "canceled before the first phase ended"
          : `canceled after ${situation.after}`;
      return [`${where}, ${counted(situation.checkpoints, "checkpoint")} kept`];
    }
  }
}

type Of<Kind extends Situation["kind"]> = Extract<Situation, { readonly kind: Kind }>;

function queued({ ahead, places, inUse }: Of<"queued">): string {
  const place = ahead === 0 ? "next in the queue" : `${count(ahead)} before it in the queue`;
  return `${place}, ${inUse} of ${places} places in use`;
}

function running(situation: Of<"running">, tense: Tense): Phrase {
  if (situation.driverDied) return ["its process ended; it is taken up again"];
  const waiting = situation.held.length === 0 ? [] : [held(`${count(situation.held.length)} waiting`)];
  if (situation.latest === null) {
    const phases = situation.phases.length === 0 ? "starting" : listed(situation.phases);
    return waiting.length === 0 ? [phases] : [...waiting, ` · ${phases}`];
  }
  const { persona, activity } = situation.latest;
  const doing = [`${persona} `, ...activityPhrase(activity, tense)];
  return waiting.length === 0 ? doing : [...waiting, " · ", ...doing];
}

function paused({ after, how }: Of<"paused">): string {
  const where = after === null ? "stopped before the first phase ended" : `stopped after ${after}`;
  switch (how) {
    case "asked":
      return `${where}, paused by a person`;
    case "until":
      return `${where}, as asked (--until ${after ?? ""})`;
    case "only":
      return `${where}, as asked (--only)`;
    case "pause-after":
      return `${where}, as asked (--pause-after)`;
    case "interrupted":
      return `${where}, interrupted`;
  }
}

/** "api-tests failed", or the failure's own words where no check is to blame. */
export const helpReason = ({ check, message }: Of<"help">): string =>
  check === null ? oneLine(message, 120).replace(/\.$/, "") : `${check} failed`;

/** "10 personas need help in build": one of them would not be the story. */
export const severalNeedHelp = ({ personas, phase }: Of<"help">): string =>
  `${counted(personas, "persona")} need help in ${phase}`;

const attemptsUsed = ({ attempts, maxAttempts }: Of<"help">): string =>
  attempts <= 1 ? "" : `, ${attempts} of ${maxAttempts} attempts`;

/** Dollars or tokens, as the limit that was met counts. */
export function amount({ unit }: Of<"budget">, value: number): string {
  return unit === "usd" ? money(value) : counted(value, "token");
}

/** Money is left, tokens are. */
export function isLeft(situation: Of<"budget">): string {
  const left = Math.max(0, situation.limit - situation.used);
  return `${amount(situation, left)} ${situation.unit === "usd" || left === 1 ? "is" : "are"} left`;
}

function completed({ gates, gatesPassed, unverified, resumes }: Of<"completed">, savedUsd: number): Phrase {
  if (unverified.length > 0) {
    const [first] = unverified;
    const why = unverified.length === 1 ? `${first} has no checks` : `${listed(unverified)} have no checks`;
    return [`${counted(unverified.length, "phase")} unverified`, ` · ${why}`];
  }
  const passed = gates === 0 ? "completed" : `${gatesPassed} of ${gates} gates passed`;
  if (resumes > 0) return [`${passed}, resumed ${times(resumes)}`];
  return [savedUsd >= 0.005 ? `${passed}, saved ${money(savedUsd)}` : passed];
}

const times = (value: number): string => (value === 1 ? "once" : value === 2 ? "twice" : `${value} times`);

function failed({ phase, message, gate }: Of<"failed">): string {
  const where = phase === null ? "" : `${phase}: `;
  if (gate !== null && gate.score !== null && gate.threshold !== null)
    return `${where}gate ${score(gate.score)} of ${score(gate.threshold)}, not reached`;
  return `${where}${oneLine(message, 160)}`;
}

/** ", gate 0.88 of 0.80", or nothing where no gate was judged. */
export function gateClause(gate: GateView | null): string {
  if (gate === null || gate.score === null) return "";
  return gate.threshold === null
    ? `, score ${score(gate.score)}`
    : `, gate ${score(gate.score)} of ${score(gate.threshold)}`;
}

/** Spent against the limit: "$6.91 / 15", "61.2k / 80k tokens" */
export function limitText(limitUsd: number | null): string {
  return limitUsd === null ? "" : ` / ${limitMoney(limitUsd)}`;
}
