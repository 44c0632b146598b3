import { advise } from "../../domain/advice.ts";
import { type BudgetUnit, microsToUsd } from "../../domain/budget.ts";
import { AttemptTimeout, BudgetExceeded, ConfigInvalid, UnrecoverableError } from "../../domain/errors.ts";
import { type Spent, totalTokens } from "../../domain/usage.ts";
import type { CommandEnding } from "../model/ports.ts";
import { type Hide, thrownBy } from "./agent-error.ts";
import { endOf } from "./agent-output.ts";
import type { AgentRun } from "./agent-run.ts";
import type { ReservePassed } from "./agent-watch.ts";
import type { CommandPersonaPorts } from "./command-ports.ts";

const maxWords = 2000;

/** The run, if it ended well; otherwise throws why it did not. */
export function endedWell(
  { argv, timeoutMs, signal, persona, sessionId }: CommandPersonaPorts,
  hide: Hide,
  run: AgentRun,
): AgentRun {
  const { ending, report } = run;
  const program = argv[0] ?? "";
  signal.throwIfAborted();
  const { stopped } = run;
  if (stopped?.kind === "reserve") throw reserveExceeded(program, stopped, run.spent, { persona, sessionId });
  if (ending.kind === "not-started") {
    const message = `${program} could not be started: ${hide(ending.reason)}`;
    if (ending.permanent !== true)
      throw Object.assign(new Error(message), { code: "ENOENT", syscall: `spawn ${program}` });
    throw new ConfigInvalid(message, {
      details: { program },
      advice: `Install ${program}, or correct the persona's command. Then resume.`,
    });
  }
  if (ending.kind === "timeout")
    throw new AttemptTimeout(`${program} did not end within ${timeoutMs} ms.`, {
      details: { program, timeoutMs },
      advice: "Give it a smaller task, or more time: timeoutMs of the persona.",
    });
  if (ending.kind === "exceeded")
    throw new UnrecoverableError(`${program} was ended: ${ending.reason}.`, {
      details: { program },
      advice: "Give it a smaller task, or raise the limit: commands.memoryMiB, commands.diskMiB.",
    });
  const error = stopped?.error ?? report.error;
  if (ending.kind !== "exited" && stopped === undefined) throw new Error(`${program} was ended from outside`);
  // The agent's own word first: it says whether its provider failed or its work did.
  if (error !== null) {
    const words = endOf(hide(error.words), maxWords);
    if (error.isOwnLimit === true) throw ownLimitReached(program, words, run.spent, { persona, sessionId });
    if (error.status !== null || error.unreachable === true) throw thrownBy(program, { ...error, words });
    throw exitError(argv, `${program}: ${words}`, words, codeOf(ending));
  }
  if (ending.kind !== "exited") return run;
  if (ending.code === 0) return run;
  const last = endOf(hide(ending.stderr.trim() || report.text || ending.stdout), maxWords);
  const message = `${program} ended with ${ending.code}${last === "" ? "" : `: ${last}`}`;
  throw exitError(argv, message, last, ending.code);
}

/** Like the error of a failed tool: its text proves nothing about a provider. */
function exitError(argv: readonly string[], message: string, printed: string, code: number): Error {
  return Object.assign(new Error(message), { argv, stdout: "", stderr: printed, code: code || 1 });
}

const codeOf = (ending: CommandEnding): number => (ending.kind === "exited" ? ending.code : 1);

/** The calls that were under way when it was ended are in `spent`, as far as the agent wrote them down. */
function reserveExceeded(
  program: string,
  { unit, limit, used: seen }: ReservePassed,
  spent: Spent,
  { persona, sessionId }: Pick<CommandPersonaPorts, "persona" | "sessionId">,
): BudgetExceeded {
  const counted = unit === "tokens" ? spent.usage && totalTokens(spent.usage) : spent.costMicroUsd;
  const used = Math.max(seen, counted ?? 0);
  const [most, took, more] = [limit, used, used - limit].map((value) => amountText(unit, value));
  return new BudgetExceeded(
    `${program} was ended: this run took ${took}, ${more} more than the reserve of persona ${persona} (${most}).`,
    {
      details: { level: "persona", name: persona, unit, limit: null, used, asked: limit, session: sessionId },
      advice: [
        advise("Resume, and its conversation continues with the same reserve again", "resume", sessionId),
        advise("Or raise the persona's reserve in the team, and resume with --accept-changes"),
      ],
    },
  );
}

/** Its limit may be the reserve, which its own option got, or one that the team wrote into its command line. */
function ownLimitReached(
  program: string,
  words: string,
  { costMicroUsd }: Spent,
  { persona, sessionId }: Pick<CommandPersonaPorts, "persona" | "sessionId">,
): BudgetExceeded {
  const took = costMicroUsd === null ? "" : ` This run took ${amountText("usd", costMicroUsd)}.`;
  return new BudgetExceeded(`${program} ended at its own limit: ${words.replace(/\.$/, "")}.${took}`, {
    details: {
      level: "persona",
      name: persona,
      unit: "usd",
      limit: null,
      ...(costMicroUsd !== null && { used: costMicroUsd }),
      session: sessionId,
    },
    advice: [
      advise("Resume, and its conversation continues with the same limit again", "resume", sessionId),
      advise("Or raise the persona's reserve or its command's limit, and resume with --accept-changes"),
    ],
  });
}

function amountText(unit: BudgetUnit, value: number): string {
  return unit === "tokens" ? `${value.toLocaleString("en-US")} tokens` : `$${microsToUsd(value).toFixed(4)}`;
}
