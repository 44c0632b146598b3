import { type BudgetUnit, microsToUsd } from "../domain/budget.ts";
import { BudgetExceeded } from "../domain/errors.ts";
import type { Lease } from "../state/lease.ts";
import type { ReservationRefusal, ReservationRequest } from "../state/ledger-store.ts";

type Final = Exclude<ReservationRefusal, { kind: "wait" }>;

/** What stands in the way, and how a person removes it. */
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

/** Why a session parks that seems to have enough left. */
function probably({ likely }: Pick<ReservationRequest, "likely">, unit: BudgetUnit, asked: number): string {
  const less = unit === "tokens" ? likely?.tokens : likely?.microUsd;
  if (less === undefined || less === null || less >= asked) return "";
  return ` (probably less than ${show(unit, less)}: what the provider has not counted yet is reserved at the most that it can be)`;
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
      `The dollar budget of ${whose} cannot be kept: earlier calls have no known price, so nobody knows what is left.`,
      { details, advice: sentence(instead) },
    );
  }
  const price = `prices: { ${JSON.stringify(model)}: { input: <dollars per million tokens>, output: <...> } }`;
  return new BudgetExceeded(
    `The price of ${model} is not known, so the dollar budget of ${whose} cannot be kept.`,
    { details, advice: `Give its price in the configuration, ${price}, or ${instead}` },
  );
}

/** Ways that leave no limit in dollars behind. */
function withoutDollars(sessionId: string, level: Final["level"], name: string): string {
  const resume = `maestro resume ${sessionId}`;
  const allow = `let such calls pass as if they cost nothing, MAESTRO_UNPRICED=allow`;
  if (level === "day")
    return `${allow}, or limit the day in tokens instead, MAESTRO_DAY_TOKEN_BUDGET, or wait for the next day (UTC); then: ${resume}`;
  const whose = level === "session" ? "" : ` --${level} ${name}`;
  return `take the dollar limit away and set one in tokens: maestro budget ${sessionId}${whose} --usd none --tokens <n> && ${resume}; or ${allow}`;
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

function raise(sessionId: string, { level, name }: Final, unit: BudgetUnit, least: number): string {
  const resume = `maestro resume ${sessionId}`;
  if (level === "day") {
    return `Raise the day's budget in the configuration to at least ${show(unit, least)}, or wait for the next day (UTC); then: ${resume}. What was spent: maestro budget ${sessionId}`;
  }
  const whose = level === "session" ? "" : ` --${level} ${name}`;
  // Cents, rounded up: nobody types micro-dollars.
  const amount =
    unit === "tokens" ? `--tokens ${least}` : `--usd ${(Math.ceil(least / 10_000) / 100).toFixed(2)}`;
  return `Raise it to at least this and go on: maestro budget ${sessionId}${whose} ${amount} && ${resume}`;
}

function show(unit: BudgetUnit, value: number): string {
  if (unit === "tokens") return `${value.toLocaleString("en-US")} tokens`;
  return `$${microsToUsd(value)
    .toFixed(6)
    .replace(/0{1,4}$/, "")}`;
}
