import { type BudgetUnit, microsToUsd } from "../domain/budget.ts";
import { BudgetExceeded } from "../domain/errors.ts";
import type { Lease } from "../state/lease.ts";
import type { ReservationRefusal, ReservationRequest } from "../state/ledger-store.ts";

type Final = Exclude<ReservationRefusal, { kind: "wait" }>;

/** What stands in the way, and how a person removes it. */
export function budgetExceeded(
  { sessionId }: Pick<Lease, "sessionId">,
  request: Pick<ReservationRequest, "model" | "asked">,
  refusal: Final,
): BudgetExceeded {
  const { level, name } = refusal;
  const whose = `${level} ${name}`;
  if (refusal.kind === "unpriced") return unpriced(sessionId, request, refusal, whose);
  const { unit, limit, used, asked } = refusal;
  const [of, is, more] = [limit, used, asked].map((value) => show(unit, value));
  return new BudgetExceeded(
    `The budget of ${whose} is ${of}: ${is} used, and the next call may take another ${more}.`,
    {
      details: { level, name, unit, limit, used, asked, session: sessionId },
      advice: raise(sessionId, refusal, unit, used + asked),
    },
  );
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
  const inTokens = `budget in tokens instead: maestro budget ${sessionId} --tokens <n>`;
  if (!isAsked) {
    return new BudgetExceeded(
      `The dollar budget of ${whose} cannot be kept: earlier calls have no known price, so nobody knows what is left.`,
      { details, advice: `Take the dollar budget away and ${inTokens}` },
    );
  }
  const price = `prices: { ${JSON.stringify(model)}: { input: <dollars per million tokens>, output: <...> } }`;
  return new BudgetExceeded(
    `The price of ${model} is not known, so the dollar budget of ${whose} cannot be kept.`,
    { details, advice: `Give its price in the configuration, ${price}, or ${inTokens}` },
  );
}

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
