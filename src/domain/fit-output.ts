import {
  type Amount,
  type BudgetLevel,
  type BudgetUnit,
  decideReservation,
  type ReservationDecision,
  type UnpricedRule,
} from "./budget.ts";

/** The output of a call that may shrink to what its budgets leave. */
export interface OutputRange {
  readonly most: number;
  /** An answer with less room than this is not worth its input. */
  readonly least: number;
  /** The amount to reserve at the least output. */
  readonly atLeast: Amount;
}

/** The smallest useful output of a call, in tokens. */
export const usefulOutputTokens = 1_024;

/** A call whose answer was cut at this output needs more room to be worth making again. */
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

/** `shrunk`: the output that the budgets leave, and the limit that is in the way of the whole. */
export type FittedDecision<Level extends string = string> =
  | Exclude<ReservationDecision<Level>, { kind: "granted" }>
  | {
      readonly kind: "granted";
      readonly asked: Amount;
      readonly shrunk?: { readonly output: number; readonly short: Exceeded<Level> };
    };

/**
 * Shrinks the output of a call that its budgets refuse as a whole, as far as it stays useful. A call that only open
 * reservations of others hold up waits, and is not shrunk: most reservations are returned in part.
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

/** The most output whose amount every limit leaves beside what is used; below the least when there is none. */
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
  // Amounts are rounded up, so the division may give too much by a few.
  while (value(amountAt(output, asked, range)) > room) output -= 1;
  return output;
}

/** A price per token is the same for every token of an answer, so an amount between the two lies on their line. */
function amountAt(output: number, asked: Amount, { least, most, atLeast }: OutputRange): Amount {
  if (output >= most) return asked;
  // Multiplied first: a share is a fraction that leaves crumbs.
  const between = (low: number, high: number): number =>
    low + Math.ceil(((high - low) * (output - least)) / (most - least));
  return {
    tokens: between(atLeast.tokens, asked.tokens),
    microUsd:
      atLeast.microUsd === null || asked.microUsd === null ? null : between(atLeast.microUsd, asked.microUsd),
  };
}
