import type { BudgetView, SessionView } from "../index.ts";
import { commandLine, nameOf, pasteable, resumeCommand } from "./output.ts";
import { billing, count, countdown, money, number } from "./terminal/words.ts";

export interface OnCall {
  readonly stateDir: string | undefined;
  /** It says that it runs, and the process that drove it is dead. */
  readonly abandoned: boolean;
  readonly now: number;
}

/** In the order in which somebody on call asks: is anything lost, what does it cost, why did it stop, what do I do. */
export function answersFor(view: SessionView, { stateDir, abandoned, now }: OnCall): string[] {
  return [
    isAnythingLost(view, abandoned),
    whatItCosts(view),
    ...whyItStopped(view, abandoned, now).map((line) => pasteable(line, stateDir)),
    ...whatToDo(view, stateDir),
    ...howToGoOn(view, stateDir, abandoned),
  ];
}

function isAnythingLost({ phases, steps }: SessionView, abandoned: boolean): string {
  const sealed = phases.filter(({ checkpoint }) => checkpoint !== null).length;
  const gone = abandoned ? "Its process is gone. " : "";
  return `${gone}Nothing is lost: ${sealed} of ${count(phases.length, "phase")} sealed, ${count(steps, "step")} recorded.`;
}

function partly({ simulatedCalls, simulatedUsd }: SessionView["usage"]): string {
  if (simulatedCalls === 0) return "";
  return ` (${money(simulatedUsd)} of it is invented: ${count(simulatedCalls, "call")} of the simulated model)`;
}

export function whatItCosts({ usage, simulated, budgets }: SessionView): string {
  const { inputTokens, outputTokens, costUsd, calls, savedTokens, savedUsd, estimatedTokens } = usage;
  if (calls === 0 && estimatedTokens === 0 && savedTokens === 0) return "Cost: no model was asked.";
  const price = simulated ? " at invented prices (the model is simulated; nothing was paid)" : partly(usage);
  const parts = [
    `Cost: ${number(inputTokens + outputTokens)} tokens in ${count(calls, "call")}, ${money(costUsd)}${price}`,
  ];
  if (savedTokens > 0) parts.push(`not paid again: ${number(savedTokens)} tokens, ${money(savedUsd)}`);
  if (estimatedTokens > 0)
    parts.push(
      `answers lost on the way, ${billing(usage)}: up to ${number(estimatedTokens)} tokens, which budgets count`,
    );
  const tightest = budgets.find(({ overrun }) => overrun) ?? budgets.find(({ level }) => level === "session");
  if (tightest !== undefined) parts.push(`budget of the ${tightest.level}: ${budgetText(tightest)}`);
  return `${parts.join("; ")}.`;
}

export function budgetText({ limit, used }: BudgetView): string {
  const parts: string[] = [];
  if (limit.tokens !== null) parts.push(`${number(used.tokens)} of ${number(limit.tokens)} tokens`);
  if (limit.usd !== null) parts.push(`${money(used.usd)} of ${money(limit.usd)}`);
  return parts.join(", ");
}

function whyItStopped(view: SessionView, abandoned: boolean, now: number): string[] {
  const { status, reason, error, wakeAt, phases } = view;
  if (status === "completed" || (status === "running" && !abandoned)) return [];
  if (abandoned) return ["Why it stopped: the process that drove it is gone."];
  const waiting = phases.find(({ review }) => review === "awaiting");
  if (reason === "review" && waiting !== undefined) {
    const { gate } = waiting;
    const failed =
      gate?.verdict === "failed"
        ? ` Its gate failed: ${gate.score?.toFixed(2)} of ${gate.threshold?.toFixed(2)}.`
        : "";
    return [`Why it stopped: phase ${waiting.name} waits for a review.${failed}`];
  }
  const lines = [`Why it stopped: ${error?.message ?? pausedBecause(view)}`];
  if (wakeAt !== null && reason === "breaker")
    lines.push(`It goes on by itself in ${countdown(Date.parse(wakeAt) - now)}, if \`maestro serve\` runs.`);
  return lines;
}

function pausedBecause({ status, phases }: SessionView): string {
  if (status === "canceled") return "somebody canceled it, for good.";
  if (status === "queued") return "nobody has driven it yet.";
  const open = phases.filter((phase) => phase.status === "pending" || phase.status === "running");
  if (open.length === 0) return "every phase is done; going on ends it.";
  return `it was asked to pause; ${open.map(({ name }) => name).join(", ")} still to do.`;
}

function whatToDo(view: SessionView, stateDir: string | undefined): string[] {
  const { reason, error, tickets, phases } = view;
  const name = nameOf(view);
  const lines: string[] = [];
  if (reason === "review") {
    const [waiting, ...more] = phases.filter(({ review }) => review === "awaiting");
    const which = waiting === undefined || more.length === 0 ? [] : ["--phase", waiting.name];
    lines.push(
      "What to do: look at it, then approve it or send it back:",
      `  ${commandLine("approve", name, stateDir, ...which)}`,
      `  ${commandLine("reject", name, stateDir, ...which, "--note", "'what should be different'")}`,
    );
  } else if (reason === "budget" && isRaisable(view)) {
    lines.push(`What to do: raise the budget, if it is worth it: ${raiseCommand(view, stateDir)}`);
  } else if (error?.advice !== undefined && view.status !== "completed") {
    lines.push(pasteable(`What to do: ${error.advice}`, stateDir));
  }
  for (const ticket of tickets)
    lines.push(
      `Ticket: ${ticket.url ?? ticket.key ?? ticket.fingerprint} (${ticket.status})`,
      ...(ticket.lastError === null ? [] : [`  not delivered: ${ticket.lastError}`]),
    );
  return lines;
}

/** A day's limit is in the configuration, and what has no known amount is mended otherwise: the error says how. */
function isRaisable({ error }: SessionView): boolean {
  const { level, limit } = (error?.details ?? {}) as Refused;
  return level !== "day" && limit !== null;
}

/** Twice as much as there is, and enough for the next call: a proposal, and a person decides. */
function raiseCommand(view: SessionView, stateDir: string | undefined): string {
  const { error, budgets } = view;
  const { level, name, unit, used = 0, asked = 0 } = (error?.details ?? {}) as Refused;
  const of = budgets.find((budget) => budget.level === level && budget.name === name);
  const target = level === "persona" || level === "phase" ? [`--${level}`, String(name)] : [];
  const amount =
    unit === "usd"
      ? ["--usd", Math.max((of?.limit.usd ?? 0.5) * 2, (used + asked) / 1_000_000).toFixed(2)]
      : ["--tokens", String(Math.max((of?.limit.tokens ?? 5_000) * 2, used + asked))];
  return commandLine("budget", nameOf(view), stateDir, ...target, ...amount);
}

/** What a refused reservation says of itself. */
interface Refused {
  readonly level?: string;
  readonly name?: string;
  readonly unit?: string;
  readonly limit?: number | null;
  readonly used?: number;
  readonly asked?: number;
}

function howToGoOn(view: SessionView, stateDir: string | undefined, abandoned: boolean): string[] {
  const { status, reason, needsProgram } = view;
  const over = ["completed", "canceled"].includes(status) || (status === "running" && !abandoned);
  if (over) return [];
  const first = reason === "review" ? "After that, go on with" : "Go on with";
  if (needsProgram) return [`${first} the program that made it: personas of its team are code.`];
  return [`${first}: ${resumeCommand(nameOf(view), stateDir)}`];
}
