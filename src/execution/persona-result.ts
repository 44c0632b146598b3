import { decisionsRule, parseDecisions } from "../domain/decision.ts";
import { InputInvalid } from "../domain/errors.ts";
import type { PersonaResult } from "../domain/journal.ts";
import { isJsonObject, parseJson, toJsonText } from "../domain/json.ts";

/** A persona's outputs travel in prompts, checkpoints and pages; what is larger belongs into files. */
const resultLimits = { maxBytes: 256 * 1024, maxDepth: 100 };

/** What a persona returned, checked before it is on record for ever. */
export function checkResult(persona: string, returned: unknown): PersonaResult {
  const what = `the result of persona "${persona}"`;
  const json = parseJson(toJsonText(returned, { what, ...resultLimits }), { what });
  const { summary, outputs = {}, decisions } = isJsonObject(json) ? json : {};
  if (typeof summary !== "string" || !isJsonObject(outputs)) {
    throw new InputInvalid(`Persona "${persona}" must return { summary: string, outputs?: object }.`, {
      advice: `It returned ${JSON.stringify(json)?.slice(0, 100)}.`,
    });
  }
  if (decisions === undefined || decisions === null) return { summary, outputs };
  const parsed = parseDecisions(decisions);
  if (parsed !== undefined) return { summary, outputs, decisions: parsed };
  throw new InputInvalid(`Persona "${persona}": ${decisionsRule}.`, {
    advice: `It returned ${JSON.stringify(decisions).slice(0, 100)}.`,
  });
}
