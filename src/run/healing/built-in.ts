import { ConfigInvalid } from "../../domain/errors.ts";
import { failureCategories } from "../../domain/failure.ts";
import { allowLongerAnswers, fallBackToOtherModel, raiseLimit, shortenContext } from "./change-settings.ts";
import { fixImports } from "./fix-imports.ts";
import type { Healer } from "./healer.ts";
import { runProjectTools } from "./project-tools.ts";
import { repairOutputs } from "./repair-outputs.ts";

/** In the order they are tried: certain fixes before guesses. The next attempt gets the feedback in any case. */
const builtInHealers: readonly Healer[] = [
  repairOutputs,
  fixImports,
  runProjectTools,
  shortenContext,
  raiseLimit,
  allowLongerAnswers,
  fallBackToOtherModel,
];

/** The caller's healers come first. An invalid one is an error at the start, not when it is needed. */
export function withBuiltIn(own: readonly Healer[]): readonly Healer[] {
  for (const { name, categories, heal } of own) {
    const known = Array.isArray(categories) && categories.every((each) => failureCategories.includes(each));
    if (typeof name === "string" && name !== "" && known && typeof heal === "function") continue;
    throw new ConfigInvalid(`The healer ${JSON.stringify(name)} is invalid.`, {
      advice: `A healer has a name, a function heal and categories, a list of: ${failureCategories.join(", ")}.`,
    });
  }
  return [...own, ...builtInHealers];
}
