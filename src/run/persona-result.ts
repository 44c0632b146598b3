import { closest } from "../domain/closest.ts";
import { InputInvalid } from "../domain/errors.ts";
import { isJsonObject, type JsonObject, parseJson, toJsonText } from "../domain/json.ts";
import { redact, redactData, redactJson } from "../domain/redact.ts";
import type { PersonaResult } from "../journal/journal.ts";
import { decisionsRule, parseDecisions } from "../journal/values.ts";

/** Outputs are part of prompts, checkpoints and pages. Larger content belongs in files. */
const resultLimits = { maxBytes: 256 * 1024, maxDepth: 100 };

const members = ["summary", "outputs", "decisions"];

/** Checks the value that a persona returned, before it is recorded: later personas, pages and exports get it without secrets. */
export function checkResult(persona: string, returned: unknown): PersonaResult {
  const what = `the result of persona "${persona}"`;
  const json = parseJson(toJsonText(returned, { what, ...resultLimits }), { what });
  const result = isJsonObject(json) ? json : {};
  refuseUnknownMembers(persona, result);
  const { summary, outputs = {}, decisions } = result;
  if (typeof summary !== "string" || !isJsonObject(outputs)) {
    throw new InputInvalid(`Persona "${persona}" must return { summary: string, outputs?: object }.`, {
      advice: `It returned ${JSON.stringify(json)?.slice(0, 100)}.`,
    });
  }
  const safe = { summary: redact(summary), outputs: redactData(outputs) };
  if (decisions === undefined || decisions === null) return safe;
  const parsed = parseDecisions(redactJson(decisions));
  if (parsed !== undefined) return { ...safe, decisions: parsed };
  throw new InputInvalid(`Persona "${persona}": ${decisionsRule}.`, {
    advice: `It returned ${JSON.stringify(decisions).slice(0, 100)}.`,
  });
}

/** The reason of an error that another attempt of the same code would repeat. */
export const unknownMember = "unknown member";

/** A member that is not recorded would be lost silently, and `sumary` would read as a missing summary. */
function refuseUnknownMembers(persona: string, result: JsonObject): void {
  const unknown = Object.keys(result).filter((name) => !members.includes(name));
  if (unknown.length === 0) return;
  const listed = unknown.slice(0, 5).map((name) => {
    const meant = closest(name, members);
    const shown = JSON.stringify(name.slice(0, 80));
    return meant === undefined ? shown : `${shown} (did you mean "${meant}"?)`;
  });
  throw new InputInvalid(`Persona "${persona}" returned an unknown member: ${listed.join(", ")}.`, {
    details: { reason: unknownMember, members: unknown.slice(0, 20) },
    advice: "A persona returns { summary, outputs, decisions }. Put values of its own into outputs.",
  });
}
