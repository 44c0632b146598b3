import type { UsageTotals } from "./usage-totals.ts";

type MoneyName = "costUsd" | "estimatedUsd" | "reservedUsd" | "savedUsd" | "cacheDiscountUsd";

export interface MoneyTerm {
  readonly member: MoneyName;
  readonly name: string;
  readonly sentence: string;
}

/** The five amounts of a usage. Every surface has these, under these names. None of them is part of another. */
export const moneyTerms: readonly MoneyTerm[] = [
  {
    member: "costUsd",
    name: "paid",
    sentence: "Priced from the tokens that the provider reported, or as an agent reported it.",
  },
  {
    member: "estimatedUsd",
    name: "perhaps billed",
    sentence:
      "The most that calls may have cost whose answer was lost or reported no tokens. Budgets count it.",
  },
  {
    member: "reservedUsd",
    name: "reserved",
    sentence: "The most that calls may cost which have not ended. Budgets count it.",
  },
  {
    member: "savedUsd",
    name: "not paid again",
    sentence: "The price of recorded calls that a resume or a fork did not make again.",
  },
  {
    member: "cacheDiscountUsd",
    name: "cache discount",
    sentence: "What the calls that were made cost less, because the provider read input from its cache.",
  },
];

/** The amounts besides the paid one that are not zero. An unknown price is null. */
export const otherAmounts = (
  usage: Pick<UsageTotals, MoneyName>,
): readonly (MoneyTerm & { readonly usd: number | null })[] =>
  moneyTerms
    .filter(({ member }) => member !== "costUsd" && usage[member] !== 0)
    .map((term) => ({ ...term, usd: usage[term.member] }));

export const explainMoney = (member: MoneyName): string =>
  moneyTerms.find((term) => term.member === member)?.sentence ?? "";
