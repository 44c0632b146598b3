import type { SessionHeader, SessionRow, Situation } from "../api/types.ts";
import { count, counted, listed } from "../format/count.ts";
import { money } from "../format/money.ts";
import { oneLine } from "../format/plain-text.ts";
import { age, countdown } from "../format/time.ts";
import { activityPhrase, type Tense } from "./activity.ts";
import { held, type Phrase, strong } from "./phrase.ts";

type Of<Kind extends Situation["kind"]> = Extract<Situation, { readonly kind: Kind }>;

/** The list column has room for this many facts of a completed session. */
const mostParts = 2;

/** The column "now, or how it ended": one line, no full stop. The server words why a session stopped. */
export function situationPhrase(
  { headline, situation, usage }: Pick<SessionRow, "headline" | "situation" | "usage">,
  now: number,
  tense: Tense = "now",
): Phrase {
  if (headline !== null) return [`${oneLine(headline, 240)}${countsOf(situation, now)}`];
  if (situation.kind === "queued") return [queued(situation)];
  if (situation.kind === "running") return running(situation, tense);
  if (situation.kind !== "completed") return [];
  return [
    completed(situation, usage.savedUsd ?? 0)
      .slice(0, mostParts)
      .join(", ") || "completed",
  ];
}

/** The numbers that change while a session waits. */
function countsOf(situation: Situation, now: number): string {
  if (situation.kind === "review" && situation.filesChanged > 0)
    return `, ${counted(situation.filesChanged, "file")} changed`;
  if (situation.kind !== "breaker") return "";
  const open = `; breaker open for ${age(now - Date.parse(situation.openedAt))}`;
  return situation.failedProbes === 0 ? open : `${open}, ${counted(situation.failedProbes, "probe")} failed`;
}

/** The sentence above the run. */
export function sessionSentence(
  view: Pick<SessionHeader, "headline" | "situation" | "usage" | "explanation">,
  now: number,
  tense: Tense = "now",
): Phrase {
  const { headline, situation, usage, explanation } = view;
  if (headline !== null)
    return [strong(`${oneLine(headline, 240)}.`), ` ${explanation.lost}${wakeText(situation, now)}`];
  if (situation.kind === "queued") return [strong("Queued."), ` ${queued(situation)}. Nothing needs you.`];
  if (situation.kind === "running") return runningSentence(situation, tense);
  if (situation.kind !== "completed") return [];
  const facts = completed(situation, usage.savedUsd ?? 0);
  return [strong("Completed."), ...facts.map((fact) => ` ${upperFirst(fact)}.`)];
}

/** " It resumes by itself in 12:08." */
function wakeText(situation: Situation, now: number): string {
  if (situation.kind !== "breaker" || situation.wakeAt === null) return "";
  return ` It resumes by itself in ${countdown(Date.parse(situation.wakeAt) - now)}.`;
}

function queued({ ahead, places, inUse }: Of<"queued">): string {
  const place = ahead === 0 ? "Next in the queue" : `${counted(ahead, "session")} before it in the queue`;
  return `${place}, ${inUse} of ${places} places in use`;
}

function running(situation: Of<"running">, tense: Tense): Phrase {
  const waiting = situation.held.length === 0 ? [] : [held(`${count(situation.held.length)} waiting`)];
  if (situation.latest === null) {
    const phases = situation.phases.length === 0 ? "starting" : listed(situation.phases);
    return waiting.length === 0 ? [phases] : [...waiting, ` · ${phases}`];
  }
  const { persona, activity } = situation.latest;
  const doing = [`${persona} `, ...activityPhrase(activity, tense)];
  return waiting.length === 0 ? doing : [...waiting, " · ", ...doing];
}

function runningSentence({ phases, held: waiting }: Of<"running">, tense: Tense): Phrase {
  const what = phases.length === 0 ? "" : ` ${listed(phases)}`;
  if (tense === "past") return [strong(`Was running${what}.`), " It continues while the server runs."];
  const waits = waiting.length === 0 ? "" : ` ${waitClause(waiting.length)}.`;
  return [strong(`Running${what}.`), `${waits} Nothing needs you.`];
}

/** "2 personas wait and continue by themselves" */
export const waitClause = (waiting: number): string =>
  waiting === 1
    ? "1 persona waits and continues by itself"
    : `${count(waiting)} personas wait and continue by themselves`;

function completed(
  { gates, gatesPassed, unverified, resumes }: Of<"completed">,
  savedUsd: number,
): readonly string[] {
  const verb = unverified.length === 1 ? "has" : "have";
  return [
    ...(unverified.length > 0
      ? [`unverified: ${listed(unverified)} ${verb} no checks`]
      : gates > 0
        ? [`${gatesPassed} of ${gates} gates passed`]
        : []),
    ...(resumes > 0 ? [`resumed ${counted(resumes, "time")}`] : []),
    ...(savedUsd >= 0.005 ? [`${money(savedUsd)} not paid again`] : []),
  ];
}

const upperFirst = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
