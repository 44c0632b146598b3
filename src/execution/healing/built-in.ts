import { fallBackToOtherModel } from "./fallback-model.ts";
import { fixImports } from "./fix-imports.ts";
import type { Healer } from "./healer.ts";
import { allowLongerAnswers } from "./longer-answers.ts";
import { runProjectTools } from "./project-tools.ts";
import { raiseLimit } from "./raise-limit.ts";
import { repairOutputs } from "./repair-outputs.ts";
import { shortenContext } from "./shorten-context.ts";

/** In the order they are tried: what is certain before what is a guess. Feedback goes to the next attempt anyway. */
export const builtInHealers: readonly Healer[] = [
  repairOutputs,
  fixImports,
  runProjectTools,
  shortenContext,
  raiseLimit,
  allowLongerAnswers,
  fallBackToOtherModel,
];
