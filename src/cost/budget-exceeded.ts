import { type Advice, advise } from "../domain/advice.ts";
import { type BudgetUnit, microsToUsd } from "../domain/budget.ts";
import { BudgetExceeded } from "../domain/errors.ts";
import { type Spent, totalTokens } from "../domain/usage.ts";
import type { Lease, ReservationRefusal, ReservationRequest, ShrunkOutput } from "../store/journal.ts";

type Final = Exclude<ReservationRefusal, { kind: "wait" }>;

/** Names the exceeded limit and how a person raises it. */
export function budgetExceeded(
  { sessionId }: Pick<Lease, "sessionId">,
  request: Pick<ReservationRequest, "model" | "asked" | "likely">,
  refusal: Final,
): BudgetExceeded {
  const { level, name } = refusal;
  const whose = `${level} ${name}`;
  if (refusal.kind === "unpriced") return unpriced(sessionId, request, refusal, whose);
  const { unit, limit, used, asked } = refusal;
  const [of, is, more] = [limit, used, asked].map((value) => show(unit, value));
  return new BudgetExceeded(
    `The budget of ${whose} is ${of}: ${is} used, and the next call may take another ${more}${probably(request, unit, asked)}.`,
    {
      details: { level, name, unit, limit, used, asked, session: sessionId },
      advice: raise(sessionId, refusal, unit, used + asked),
    },
  );
}

/** The answer needed more output than the budget left. `spent`: its cost, which stays booked. */
export function answerCutShort(
  sessionId: string,
  output: number,
  short: ShrunkOutput["short"],
  spent: Spent | undefined,
): BudgetExceeded {
  const { level, name, unit, limit, asked } = short;
  const cost = unit === "tokens" ? spent?.usage && totalTokens(spent.usage) : spent?.costMicroUsd;
  const used = short.used + (cost ?? 0);
  const tokens = `${output.toLocaleString("en-US")} tokens`;
  return new BudgetExceeded(
    `The budget of ${level} ${name} is ${show(unit, limit)} and left ${tokens} for an answer, which was cut there. ${show(unit, used)} are used.`,
    {
      details: { level, name, unit, limit, used, asked, session: sessionId, cutAt: output },
      advice: raise(sessionId, short, unit, used + asked),
    },
  );
}

/** Why a session parks although enough seems to be left. */
function probably({ likely }: Pick<ReservationRequest, "likely">, unit: BudgetUnit, asked: number): string {
  const less = unit === "tokens" ? likely?.tokens : likely?.microUsd;
  if (less === undefined || less === null || less >= asked) return "";
  return ` (probably less than ${show(unit, less)}: tokens that the provider has not counted yet are reserved at their maximum)`;
}

function unpriced(
  sessionId: string,
  { model, asked }: Pick<ReservationRequest, "model" | "asked">,
  { level, name }: Final,
  whose: string,
): BudgetExceeded {
  const isAsked = asked.microUsd === null;
  const details = {
    level,
    name,
    unit: "usd",
    limit: null,
    used: null,
    asked: null,
    model,
    session: sessionId,
  };
  const instead = withoutDollars(sessionId, level, name);
  if (!isAsked) {
    return new BudgetExceeded(
      `The dollar budget of ${whose} cannot be kept: earlier calls have no known price, so the rest is unknown.`,
      { details, advice: instead },
    );
  }
  const price = `prices: { ${JSON.stringify(model)}: { input: <dollars per million tokens>, output: <...> } }`;
  return new BudgetExceeded(
    `The price of ${model} is not known, so the dollar budget of ${whose} cannot be kept.`,
    { details, advice: [advise(`Set its price in the configuration, ${price}.`), ...instead] },
  );
}

/** Advice that removes the dollar limit. */
function withoutDollars(sessionId: string, level: Final["level"], name: string): readonly Advice[] {
  const allow = "count such calls as free (MAESTRO_UNPRICED=allow)";
  if (level === "day")
    return [
      advise(
        `Either ${allow}, limit the day in tokens instead (MAESTRO_DAY_TOKEN_BUDGET), or wait for the next day (UTC).`,
      ),
    ];
  const whose = level === "session" ? [] : [`--${level}`, name];
  const inTokens = ["budget", sessionId, ...whose, "--usd", "none", "--tokens", "<n>"];
  return [advise("Replace the dollar limit by one in tokens", ...inTokens), advise(`Or ${allow}.`)];
}

function raise(
  sessionId: string,
  { level, name }: Final,
  unit: BudgetUnit,
  least: number,
): readonly Advice[] {
  if (level === "day")
    return [
      advise(
        `Raise ${unit === "usd" ? "budget.dayUsd" : "budget.dayTokens"} in the configuration to at least ${show(unit, least)}, or wait for the next day (UTC).`,
      ),
      advise("See what was spent", "budget", sessionId),
    ];
  const whose = level === "session" ? [] : [`--${level}`, name];
  // Rounded up to cents, because people do not type micro-dollars.
  const amount =
    unit === "tokens" ? ["--tokens", String(least)] : ["--usd", (Math.ceil(least / 10_000) / 100).toFixed(2)];
  return [
    advise("Raise it to at least this", "budget", sessionId, ...whose, ...amount),
    advise("Then resume", "resume", sessionId),
  ];
}

function show(unit: BudgetUnit, value: number): string {
  if (unit === "tokens") return `${value.toLocaleString("en-US")} tokens`;
  return `$${microsToUsd(value)
    .toFixed(6)
    .replace(/0{1,4}$/, "")}`;
}
