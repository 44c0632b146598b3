import { type Advice, advise, nameOf } from "../domain/advice.ts";
import { billing, count, money, number } from "../domain/amounts.ts";
import type { ErrorJson } from "../domain/error-json.ts";
import type { ParkReason, SessionStatus } from "./standing.ts";

/** The part of a session's view that explains why it stopped. */
export interface StoppedSession {
  readonly id: string;
  readonly key: string | null;
  readonly status: SessionStatus;
  readonly reason: ParkReason | null;
  readonly error: ErrorJson | null;
  readonly wakeAt: string | null;
  /** Personas of its team are functions, which only the program that defines them can run. */
  readonly needsProgram: boolean;
  readonly simulated: boolean;
  readonly steps: number;
  readonly phases: readonly StoppedPhase[];
  readonly usage: UsedSoFar;
  readonly budgets: readonly KeptBudget[];
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
}

interface UsedSoFar {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number | null;
  readonly calls: number;
  readonly savedTokens: number;
  readonly savedUsd: number | null;
  readonly estimatedTokens: number;
  readonly simulatedCalls: number;
  readonly simulatedUsd: number;
}

interface KeptBudget {
  readonly level: string;
  readonly name: string;
  readonly limit: { readonly tokens: number | null; readonly usd: number | null };
  readonly used: { readonly tokens: number; readonly usd: number | null };
  readonly overrun: boolean;
}

/** The answers to the questions of the person on call, in the order in which they are asked. */
export interface StopExplanation {
  /** Is anything lost? */
  readonly lost: string;
  /** What does it cost now? */
  readonly cost: string;
  /** Why did it stop? Null while it runs and when it has completed. */
  readonly why: string | null;
  /** What do I do? */
  readonly todo: readonly Advice[];
  /** How do I resume? Null where nothing is left to resume. */
  readonly resume: Advice | null;
}

/** `abandoned`: the session is marked as running, but the process that drove it has died. */
export function explainStop(
  session: StoppedSession,
  { abandoned = false }: { readonly abandoned?: boolean } = {},
): StopExplanation {
  const isDriven = session.status === "running" && !abandoned;
  const isOver = session.status === "completed" || session.status === "canceled";
  return {
    lost: whatIsLost(session, abandoned),
    cost: whatItCosts(session),
    why: isDriven || session.status === "completed" ? null : whyItStopped(session, abandoned),
    todo: isDriven || isOver ? [] : whatToDo(session),
    resume: isDriven || isOver ? null : resumeAdvice(session),
  };
}

/** How a session resumes: by a command, or by the program that defines its personas. */
export function resumeAdvice(
  session: Pick<StoppedSession, "id" | "key" | "needsProgram"> & { readonly reason?: ParkReason | null },
): Advice {
  const isReview = session.reason === "review";
  if (session.needsProgram)
    return advise(
      `${isReview ? "Then start" : "Start"} the program that defines its team again: personas of the team are code.`,
    );
  return advise(isReview ? "Then resume with" : "Resume with", "resume", nameOf(session));
}

function whatIsLost({ phases, steps }: StoppedSession, abandoned: boolean): string {
  const sealed = phases.filter(({ checkpoint }) => checkpoint !== null).length;
  const gone = abandoned ? "Its process is gone. " : "";
  return `${gone}Nothing is lost: ${sealed} of ${count(phases.length, "phase")} sealed, ${count(steps, "step")} recorded.`;
}

export function whatItCosts({
  usage,
  simulated,
  budgets,
}: Pick<StoppedSession, "usage" | "simulated" | "budgets">): string {
  const { inputTokens, outputTokens, costUsd, calls, savedTokens, savedUsd, estimatedTokens } = usage;
  if (calls === 0 && estimatedTokens === 0 && savedTokens === 0) return "Cost: no model was called.";
  const price = simulated ? " at invented prices (the model is simulated; nothing was paid)" : partly(usage);
  const parts = [
    `Cost: ${number(inputTokens + outputTokens)} tokens in ${count(calls, "call")}, ${money(costUsd)}${price}`,
  ];
  if (savedTokens > 0) parts.push(`not paid again: ${number(savedTokens)} tokens, ${money(savedUsd)}`);
  if (estimatedTokens > 0)
    parts.push(
      `answers lost in transit, ${billing(usage)}: up to ${number(estimatedTokens)} tokens, which budgets count`,
    );
  const tightest = budgets.find(({ overrun }) => overrun) ?? budgets.find(({ level }) => level === "session");
  if (tightest !== undefined) parts.push(`budget of the ${tightest.level}: ${budgetText(tightest)}`);
  return `${parts.join("; ")}.`;
}

function partly({ simulatedCalls, simulatedUsd }: UsedSoFar): string {
  if (simulatedCalls === 0) return "";
  return ` (${money(simulatedUsd)} of it is invented: ${count(simulatedCalls, "call")} of the simulated model)`;
}

export function budgetText({ limit, used }: Pick<KeptBudget, "limit" | "used">): string {
  const parts: string[] = [];
  if (limit.tokens !== null) parts.push(`${number(used.tokens)} of ${number(limit.tokens)} tokens`);
  if (limit.usd !== null) parts.push(`${money(used.usd)} of ${money(limit.usd)}`);
  return parts.join(", ");
}

function whyItStopped(session: StoppedSession, abandoned: boolean): string {
  const { status, reason, error, wakeAt, phases } = session;
  if (abandoned) return "The process that drove it died.";
  if (reason === "review") return reviewText(phases);
  const message = error === null ? undefined : ended(error.message);
  if (reason === "breaker" && message !== undefined)
    return wakeAt === null
      ? message
      : `${message} It resumes by itself at ${wakeAt} where \`maestro serve\` runs.`;
  if (message !== undefined) return message;
  if (status === "canceled") return "A person canceled it.";
  if (status === "queued") return "It is queued and has not started.";
  const open = phases.filter((phase) => !["completed", "reused", "skipped"].includes(phase.status));
  if (open.length === 0) return "Every phase is done; a resume completes it.";
  return `It was paused; ${open.map(({ name }) => name).join(", ")} ${open.length === 1 ? "is" : "are"} still to do.`;
}

function reviewText(phases: readonly StoppedPhase[]): string {
  const waiting = phases.filter(({ review }) => review === "awaiting");
  const names = waiting.map(({ name }) => name).join(", ");
  const failed = waiting.flatMap(({ name, gate }) =>
    gate?.verdict === "failed"
      ? [` The gate of ${name} failed: ${gate.score?.toFixed(2)} of ${gate.threshold?.toFixed(2)}.`]
      : [],
  );
  return `Phase ${names} waits for review.${failed.join("")}`;
}

/** Messages of others end like a sentence here. */
const ended = (message: string): string => (/[.!?…]$/.test(message) ? message : `${message}.`);

function whatToDo(session: StoppedSession): readonly Advice[] {
  const { reason, error } = session;
  if (reason === "review") return reviewAdvice(session);
  const raise = reason === "budget" ? raiseAdvice(session) : undefined;
  if (raise !== undefined) return [raise];
  if (error === null) return [];
  return error.actions ?? (error.advice === undefined ? [] : [advise(error.advice)]);
}

function reviewAdvice(session: StoppedSession): readonly Advice[] {
  const name = nameOf(session);
  const waiting = session.phases.filter(({ review }) => review === "awaiting");
  // One answer without a phase is for all that wait.
  return (waiting.length > 1 ? waiting : [undefined]).flatMap((phase) => {
    const which = phase === undefined ? [] : ["--phase", phase.name];
    const it = phase === undefined ? "it" : phase.name;
    return [
      advise(`Approve ${it}`, "approve", name, ...which),
      advise(`Or reject ${it}, with what should be different`, "reject", name, ...which, "--note", "..."),
    ];
  });
}

/** The details of a refused reservation. */
interface Refused {
  readonly level?: string;
  readonly name?: string;
  readonly unit?: string;
  readonly limit?: number | null;
  readonly used?: number;
  readonly asked?: number;
}

/**
 * Proposes twice the limit, and at least enough for the next call. Undefined for a limit of the day, which is in the
 * configuration, and for a cost without a known price: there the error itself says what to do.
 */
function raiseAdvice(session: StoppedSession): Advice | undefined {
  const { level, name, unit, limit, used = 0, asked = 0 } = (session.error?.details ?? {}) as Refused;
  if (level === "day" || limit === null) return undefined;
  const of = session.budgets.find((budget) => budget.level === level && budget.name === name);
  const target = level === "persona" || level === "phase" ? [`--${level}`, String(name)] : [];
  const amount =
    unit === "usd"
      ? ["--usd", Math.max((of?.limit.usd ?? 0.5) * 2, (used + asked) / 1_000_000).toFixed(2)]
      : ["--tokens", String(Math.max((of?.limit.tokens ?? 5_000) * 2, used + asked))];
  return advise("Raise the budget, if it is worth it", "budget", nameOf(session), ...target, ...amount);
}
