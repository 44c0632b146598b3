import {
  type Amount,
  type BudgetLevel,
  type BudgetUnit,
  decideReservation,
  type ReservationDecision,
  type UnpricedRule,
} from "./budget.ts";

/** The output range of a call that may shrink to fit its budgets. */
export interface OutputRange {
  readonly most: number;
  /** With less room, an answer is not worth its input. */
  readonly least: number;
  /** The amount to reserve at the least output. */
  readonly atLeast: Amount;
}

/** The smallest useful output of a call, in tokens. */
export const usefulOutputTokens = 1_024;

/** An answer that was cut at this output needs more room for the repeated call to make sense. */
export function withMoreRoom<S extends { readonly output?: OutputRange; readonly atMost?: Amount }>(
  spend: S,
  cutAt: number | undefined,
): S {
  const { output: range, atMost } = spend;
  if (cutAt === undefined || range === undefined || atMost === undefined) return spend;
  const least = Math.min(range.most, cutAt + usefulOutputTokens);
  return { ...spend, output: { ...range, least, atLeast: amountAt(least, atMost, range) } };
}

type Exceeded<Level extends string> = Extract<ReservationDecision<Level>, { kind: "exceeded" }>;

/** `shrunk`: the output that the budgets leave, and the limit that prevents the full output. */
export type FittedDecision<Level extends string = string> =
  | Exclude<ReservationDecision<Level>, { kind: "granted" }>
  | {
      readonly kind: "granted";
      readonly asked: Amount;
      readonly shrunk?: { readonly output: number; readonly short: Exceeded<Level> };
    };

/**
 * Shrinks the output of a call that its budgets refuse, as far as it stays useful. A call that only open
 * reservations of others hold up waits instead, because most reservations are partly returned.
 */
export function fitReservation<Level extends string>(
  levels: readonly BudgetLevel<Level>[],
  asked: Amount,
  range: OutputRange | undefined,
  unpriced: UnpricedRule = "refuse",
): FittedDecision<Level> {
  const whole = decideReservation(levels, asked, unpriced);
  if (whole.kind === "granted") return { kind: "granted", asked };
  if (whole.kind !== "exceeded" || range === undefined) return whole;
  const output = mostOutput(levels, asked, range);
  if (output < range.least) return whole;
  const less = amountAt(output, asked, range);
  const decision = decideReservation(levels, less, unpriced);
  if (decision.kind !== "granted") return decision;
  return { kind: "granted", asked: less, shrunk: { output, short: whole } };
}

/** The largest output whose amount fits every limit; below the least if there is none. */
function mostOutput(levels: readonly BudgetLevel[], asked: Amount, range: OutputRange): number {
  const rooms = levels.flatMap(({ budget, ledger: { used } }): readonly (readonly [BudgetUnit, number])[] => [
    ...(budget.tokens === undefined ? [] : [["tokens", budget.tokens - used.tokens] as const]),
    ...(budget.microUsd === undefined ? [] : [["usd", budget.microUsd - (used.microUsd ?? 0)] as const]),
  ]);
  const outputs = rooms.map(([unit, room]) => outputWithin(unit, room, asked, range));
  return Math.min(range.most, ...outputs);
}

function outputWithin(unit: BudgetUnit, room: number, asked: Amount, range: OutputRange): number {
  const { least, most, atLeast } = range;
  const value = (amount: Amount): number => (unit === "tokens" ? amount.tokens : (amount.microUsd ?? 0));
  if (value(asked) <= room) return most;
  if (value(atLeast) > room) return least - 1;
  const slope = (value(asked) - value(atLeast)) / (most - least);
  let output = Math.min(most, least + Math.ceil((room - value(atLeast)) / slope));
  // Amounts are rounded up, so the division may exceed the limit by a few.
  while (value(amountAt(output, asked, range)) > room) output -= 1;
  return output;
}

/** The price per token is the same for every token of an answer, so an amount between the two is on their line. */
function amountAt(output: number, asked: Amount, { least, most, atLeast }: OutputRange): Amount {
  if (output >= most) return asked;
  // Multiplies first, because a fractional share causes rounding errors.
  const between = (low: number, high: number): number =>
    low + Math.ceil(((high - low) * (output - least)) / (most - least));
  return {
    tokens: between(atLeast.tokens, asked.tokens),
    microUsd:
      atLeast.microUsd === null || asked.microUsd === null ? null : between(atLeast.microUsd, asked.microUsd),
  };
}
