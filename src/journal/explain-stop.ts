import { type Advice, advise, nameOf, notePlaceholder } from "../domain/advice.ts";
import { count, money, number } from "../domain/amounts.ts";
import { microsToUsd } from "../domain/budget.ts";
import type { ErrorJson } from "../domain/error-json.ts";
import { failureTable } from "../domain/failure.ts";
import { otherAmounts } from "../domain/money-terms.ts";
import { checkAdvice } from "./check-advice.ts";
import type { WaitingView } from "./effect-view.ts";
import { askedTexts, callAdvice } from "./explain-calls.ts";
import { type HeldSession, heldBack } from "./held-back.ts";
import type { Direction } from "./journal.ts";
import { type KeptBudget, type ProposedLimit, proposedLimit, raiseAdvice } from "./proposed-limit.ts";
import type { ParkReason, PauseCause } from "./standing.ts";

/** The parts of a session's view that the explanation uses. */
export interface StoppedSession extends HeldSession {
  readonly reason: ParkReason | null;
  readonly pausedBy: PauseCause | null;
  readonly direction: Direction;
  readonly error: ErrorJson | null;
  readonly wakeAt: string | null;
  readonly needsProgram: boolean;
  /** The repository or archive that it began with. */
  readonly source?: object | null;
  readonly simulated: boolean;
  readonly steps: number;
  readonly phases: readonly StoppedPhase[];
  readonly usage: UsedSoFar;
  readonly budgets: readonly KeptBudget[];
  readonly effects: readonly { readonly state: "happened" | "unknown" }[];
  readonly waiting: readonly WaitingView[];
}

interface StoppedPhase {
  readonly name: string;
  readonly status: string;
  readonly review: "none" | "awaiting" | "approved";
  readonly gate: {
    readonly threshold: number | null;
    readonly score: number | null;
    readonly verdict: string | null;
  } | null;
  readonly checkpoint: object | null;
  readonly putBack: readonly { readonly persona: string; readonly path: string }[];
  readonly personas: readonly { readonly status: string }[];
}

interface UsedSoFar {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number | null;
  readonly calls: number;
  readonly savedTokens: number;
  readonly savedUsd: number | null;
  readonly estimatedUsd: number;
  readonly reservedUsd: number;
  readonly cacheDiscountUsd: number | null;
  readonly estimatedTokens: number;
  readonly simulatedEstimatedTokens: number;
  readonly simulatedCalls: number;
  readonly simulatedUsd: number;
}

/**
 * Answers for the person on call, in the order of their questions. Terminal, HTTP, page and ticket quote them and
 * have no wording of their own about a stop. `stop-headline.ts` has the line for lists and titles.
 */
export interface StopExplanation {
  /** Is anything lost? */
  readonly lost: string;
  /** What does it cost now? Calls without reported usage are a second line. */
  readonly cost: string;
  /** Why did it stop? Null while it runs and after it has completed. */
  readonly why: string | null;
  /** What do I do? */
  readonly todo: readonly Advice[];
  /** How do I resume? Null if nothing is left to resume. */
  readonly resume: Advice | null;
  /** One entry per persona if several need help; otherwise empty. */
  readonly needs: readonly PersonaNeed[];
  /** The limit that `todo` proposes, for forms. */
  readonly raise: ProposedLimit | null;
}

export interface PersonaNeed {
  readonly phase: string;
  readonly persona: string;
  readonly why: string;
  readonly todo: readonly Advice[];
}

/** Limit for a session in which many personas need help. */
const mostNeeds = 50;
const mostAdvice = 10;

/** `abandoned`: the session is marked as running, but its driver has died. */
export function explainStop(
  session: StoppedSession,
  { abandoned = false }: { readonly abandoned?: boolean } = {},
): StopExplanation {
  const rests = session.status === "running" && session.wakeAt !== null;
  const isDriven = session.status === "running" && !abandoned && !rests && session.error === null;
  const isOver = session.status === "completed" || session.status === "canceled";
  const isStopped = !isDriven && !isOver;
  return {
    lost: whatIsLost(session, abandoned),
    cost: isStopped ? `${nothingSpends} ${whatItCosts(session)}` : whatItCosts(session),
    why: isDriven || session.status === "completed" ? null : whyItStopped(session, abandoned),
    todo: isStopped ? whatToDo(session) : [],
    resume: isStopped ? resumeAdvice(session) : null,
    needs: isStopped ? needsOf(session.error).slice(0, mostNeeds).map(describeNeed) : [],
    raise: isStopped ? proposedLimit(session) : null,
  };
}

const startProgram = (verb: string): Advice =>
  advise(`${verb} the program that defines its team again: personas of the team are code.`);

/** No command resumes a session whose personas are functions. */
export const resumeByProgram = startProgram("Start");

export function resumeAdvice(
  session: Pick<StoppedSession, "id" | "key" | "needsProgram" | "imported"> & {
    readonly reason?: ParkReason | null;
  },
): Advice {
  const isReview = session.reason === "review";
  if (session.imported?.trusted === false && !session.needsProgram)
    return advise("If you trust it, resume with", "resume", nameOf(session), "--trust");
  if (session.needsProgram) return isReview ? startProgram("Then start") : resumeByProgram;
  return advise(isReview ? "Then resume with" : "Resume with", "resume", nameOf(session));
}

/** For tickets, which have no view of the session. */
export const nothingIsLost =
  "Nothing is lost: every finished step is recorded. A resume reuses it and does not pay for it again.";

function whatIsLost({ phases, steps, effects }: StoppedSession, abandoned: boolean): string {
  const sealed = phases.filter(({ checkpoint }) => checkpoint !== null).length;
  const finished = phases
    .filter(({ checkpoint }) => checkpoint === null)
    .flatMap(({ personas }) => personas)
    .filter(({ status }) => status === "completed" || status === "reused").length;
  const kept = [
    `${sealed} of ${count(phases.length, "phase")} sealed`,
    ...(finished === 0 ? [] : [`${count(finished, "finished persona")} kept`]),
    `${count(steps, "step")} recorded`,
  ];
  const unknown = effects.filter(({ state }) => state === "unknown").length;
  const open =
    unknown === 0
      ? ""
      : ` The outcome of ${count(unknown, "effect")} is unknown: it is not repeated without a probe's or a person's word.`;
  const again = abandoned ? " A step that was under way runs again, unless it is `once`." : "";
  return `${abandoned ? "Its process is gone. " : ""}Nothing is lost: ${kept.join(", ")}.${again}${open}`;
}

const nothingSpends = "Nothing is running or spending.";

/** For tickets, which have only the sums. */
export function costWhileStopped(
  spent: { readonly tokens: number; readonly microUsd?: number | undefined } | undefined,
): string {
  if (spent === undefined) return nothingSpends;
  if (spent.tokens === 0) return `${nothingSpends} ${noModelCalled}`;
  const usd = spent.microUsd === undefined ? null : microsToUsd(spent.microUsd);
  return `${nothingSpends} Cost: ${number(spent.tokens)} tokens, ${money(usd)}.`;
}

const noModelCalled = "Cost: no model was called.";

function whatItCosts({
  usage,
  simulated,
  budgets,
}: Pick<StoppedSession, "usage" | "simulated" | "budgets">): string {
  const { inputTokens, outputTokens, costUsd, calls, savedTokens, savedUsd, estimatedTokens } = usage;
  if (calls === 0 && estimatedTokens === 0 && savedTokens === 0) return noModelCalled;
  const price = simulated ? " at invented prices (the model is simulated; nothing was paid)" : partly(usage);
  const parts = [
    `Cost: ${number(inputTokens + outputTokens)} tokens in ${count(calls, "call")}, ${money(costUsd)}${price}`,
  ];
  if (savedTokens > 0) parts.push(`not paid again: ${number(savedTokens)} tokens, ${money(savedUsd)}`);
  for (const { member, name, usd } of otherAmounts(usage))
    if (member === "reservedUsd" || member === "cacheDiscountUsd") parts.push(`${name}: ${money(usd)}`);
  const tightest = budgets.find(({ overrun }) => overrun) ?? budgets.find(({ level }) => level === "session");
  if (tightest !== undefined) parts.push(`budget of the ${tightest.level}: ${budgetText(tightest)}`);
  const lost = estimatedTokens > 0 ? `\n${lostAnswers(usage)}` : "";
  return `${parts.join("; ")}.${lost}`;
}

/** Only a model that costs something may have billed them. */
function lostAnswers(usage: UsedSoFar): string {
  const { estimatedTokens, simulatedEstimatedTokens } = usage;
  const billed = estimatedTokens - simulatedEstimatedTokens;
  if (billed > 0)
    return `Perhaps paid besides: up to ${number(billed)} tokens of calls without a report of what they took, which budgets count. The answer of such a call may be lost; then it was made again and perhaps paid twice.`;
  return `Calls of the simulated model ended without a report of what they took: up to ${number(estimatedTokens)} tokens, which budgets count. Nothing was billed.`;
}

function partly({ simulatedCalls, simulatedUsd }: UsedSoFar): string {
  if (simulatedCalls === 0) return "";
  return ` (${money(simulatedUsd)} of it is invented: ${count(simulatedCalls, "call")} of the simulated model)`;
}

function budgetText({ limit, used }: Pick<KeptBudget, "limit" | "used">): string {
  const parts: string[] = [];
  if (limit.tokens !== null) parts.push(`${number(used.tokens)} of ${number(limit.tokens)} tokens`);
  if (limit.usd !== null) parts.push(`${money(used.usd)} of ${money(limit.usd)}`);
  return parts.join(", ");
}

function whyItStopped(session: StoppedSession, abandoned: boolean): string {
  const { status, reason, error } = session;
  const held = heldBack(session);
  if (held !== undefined) return held.why;
  if (abandoned)
    return session.needsProgram
      ? "The process that drove it died."
      : "The process that drove it died. Where `maestro serve` runs, it resumes by itself.";
  if (reason !== null) return parkTexts[reason].why(session);
  if (error !== null) return ended(error.message);
  if (status === "running")
    return `Everything in it waits until ${session.wakeAt}, and it holds no place meanwhile. Where \`maestro serve\` or the process that started it runs, it resumes by itself.`;
  if (status === "canceled") return "A person canceled it.";
  if (status === "queued") return "It is queued and has not started.";
  return `${pauseText(session)} ${whatIsLeft(session)}`;
}

/** The texts for people about each reason to park. */
interface ParkTexts {
  readonly why: (session: StoppedSession) => string;
  readonly todo: (session: StoppedSession) => readonly Advice[];
}

const parkTexts: Readonly<Record<ParkReason, ParkTexts>> = {
  review: { why: reviewText, todo: reviewAdvice },
  help: { why: errorText, todo: errorAdvice },
  unknown: { why: errorText, todo: errorAdvice },
  budget: {
    why: errorText,
    todo(session) {
      const raise = proposedLimit(session);
      return raise === null ? errorAdvice(session) : [raiseAdvice(session, raise)];
    },
  },
  breaker: {
    why: (session) =>
      session.wakeAt === null
        ? errorText(session)
        : `${errorText(session)} Where \`maestro serve\` runs, it resumes by itself at ${session.wakeAt}.`,
    todo(session) {
      const dependency = session.error?.details?.["dependency"];
      if (typeof dependency !== "string") return errorAdvice(session);
      return [advise(`To try at once, when ${dependency} is back`, "breakers", "reset", dependency)];
    },
  },
  setup: {
    why(session) {
      const { printed } = (session.error?.details ?? {}) as { readonly printed?: unknown };
      return typeof printed === "string" && printed !== ""
        ? `${errorText(session)}\n\n${printed}`
        : errorText(session);
    },
    todo: (session) => [...errorAdvice(session), ...checkAdvice(session)],
  },
};

function errorText({ error }: StoppedSession): string {
  return error === null ? "The reason was not recorded." : ended(error.message);
}

function pauseText({ pausedBy, direction }: StoppedSession): string {
  switch (pausedBy) {
    case "person":
      return "A person paused it.";
    case "interrupt":
      return "Its command was interrupted.";
    case "direction":
      return `It was told to stop here${directionFlag(direction)}.`;
    case "answer":
      return "A person has answered.";
    case "restore":
      return "It was restored from its checkpoints.";
    case "refusal":
      return "Its last resume was refused.";
    case null:
      return "It was interrupted.";
  }
}

function directionFlag({ only, until, pauseAfter }: Direction): string {
  const [flag, phases] =
    only !== undefined
      ? ["--only", only]
      : until !== undefined
        ? ["--until", [until]]
        : ["--pause-after", pauseAfter ?? []];
  return phases.length === 0 ? "" : ` (${flag} ${phases.join(",")})`;
}

function whatIsLeft({ phases }: StoppedSession): string {
  const open = phases.filter((phase) => !["completed", "reused", "skipped"].includes(phase.status));
  if (open.length === 0) return "Every phase is done; a resume completes it.";
  return `Still to do: ${open.map(({ name }) => name).join(", ")}.`;
}

function reviewText({ phases, waiting: all }: StoppedSession): string {
  const asked = askedTexts(all);
  const waiting = phases.filter(({ review }) => review === "awaiting");
  if (waiting.length === 0) return asked.length === 0 ? "A person has answered." : asked.join(" ");
  const names = waiting.map(({ name }) => name).join(", ");
  const failed = waiting.flatMap(({ name, gate }) =>
    gate?.verdict === "failed"
      ? [` The gate of ${name} failed: ${gate.score?.toFixed(2)} of ${gate.threshold?.toFixed(2)}.`]
      : [],
  );
  const phasesText = `Phase ${names} waits for review.${failed.join("")}${waiting.map(putBackText).join("")}`;
  return [phasesText, ...asked].join(" ");
}

const mostPaths = 5;

/** A reviewer must know what a persona tried to change. */
function putBackText({ putBack }: StoppedPhase): string {
  const [first] = putBack;
  if (first === undefined) return "";
  const personas = [...new Set(putBack.map(({ persona }) => persona))].join(", ");
  const paths = [...new Set(putBack.map(({ path }) => path))];
  const more = paths.length > mostPaths ? ` and ${paths.length - mostPaths} more` : "";
  return ` Protected files that ${personas} changed were put back: ${paths.slice(0, mostPaths).join(", ")}${more}.`;
}

const ended = (message: string): string => (/[.!?…]$/.test(message) ? message : `${message}.`);

function whatToDo(session: StoppedSession): readonly Advice[] {
  const { reason } = session;
  const held = heldBack(session);
  if (held !== undefined) return held.todo;
  const own = reason === null ? errorAdvice(session) : parkTexts[reason].todo(session);
  return [...own, ...callAdvice(session)];
}

function errorAdvice({ error }: StoppedSession): readonly Advice[] {
  if (error === null) return [];
  const all = [...needsOf(error), error].flatMap(adviceOf);
  const unique = new Map(all.map((advice) => [JSON.stringify(advice), advice]));
  return [...unique.values()].slice(0, mostAdvice);
}

/** The details of HelpNeeded. Other errors have other members. */
interface HelpDetails {
  readonly phase?: string;
  readonly persona?: string;
  readonly message?: string;
  readonly suggestedActions?: readonly string[];
  readonly needs?: readonly ErrorJson[];
}

const helpOf = (error: ErrorJson): HelpDetails => error.details ?? {};

const needsOf = (error: ErrorJson | null): readonly ErrorJson[] =>
  error === null ? [] : (helpOf(error).needs ?? []);

function describeNeed(error: ErrorJson): PersonaNeed {
  const { phase = "", persona = "", message } = helpOf(error);
  return { phase, persona, why: ended(message || error.message), todo: adviceOf(error) };
}

/** The fixes that its failures suggest come first, then the error's own advice. */
export function adviceOf(error: ErrorJson): readonly Advice[] {
  const { actions, advice } = error;
  const suggested = (helpOf(error).suggestedActions ?? [])
    // The table has no specific advice for an unrecognized failure.
    .filter((text) => text !== failureTable.UNKNOWN.suggestedFix)
    .map((text) => advise(text));
  return [...suggested, ...(actions ?? (advice === undefined ? [] : [advise(advice)]))];
}

function reviewAdvice(session: StoppedSession): readonly Advice[] {
  const name = nameOf(session);
  const waiting = session.phases.filter(({ review }) => review === "awaiting");
  if (waiting.length === 0) return [];
  // If only one phase waits, an answer need not name it.
  return (waiting.length > 1 ? waiting : [undefined]).flatMap((phase) => {
    const which = phase === undefined ? [] : ["--phase", phase.name];
    const it = phase === undefined ? "it" : phase.name;
    return [
      advise(`Approve ${it}`, "approve", name, ...which),
      advise(
        `Or reject ${it} and say what should change`,
        "reject",
        name,
        ...which,
        "--note",
        notePlaceholder,
      ),
    ];
  });
}
