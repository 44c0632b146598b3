import { Fields } from "./fields.ts";
import { numberBetween, wholeNumber } from "./kinds.ts";
import type { BudgetDefinition } from "./team-definition.ts";

const tokens = wholeNumber(1, Number.MAX_SAFE_INTEGER);
// Less than a millionth of a dollar cannot be counted; more than the top cannot be in whole micro-dollars.
const usd = numberBetween(0.000_001, 1_000_000_000, "a number of dollars, from 0.000001 to 1000000000");

/** `budget` or `reserve`. */
export function readBudget(owner: Fields, key: string): BudgetDefinition | null {
  if (!owner.has(key)) return null;
  const shape = { allowed: "an object with tokens, usd, or both", keys: ["tokens", "usd"] };
  const fields = Fields.of(owner.value(key), owner.place.at(key), shape);
  if (fields === undefined) return null;
  if (!fields.has("tokens") && !fields.has("usd")) {
    fields.place.problem("says nothing: give it tokens, usd, or both.");
    return null;
  }
  const [inTokens, inUsd] = [fields.read("tokens", tokens), fields.read("usd", usd)];
  return {
    ...(inTokens !== undefined && { tokens: inTokens }),
    ...(inUsd !== undefined && { usd: inUsd }),
  };
}
