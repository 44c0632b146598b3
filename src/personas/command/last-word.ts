import { isJsonObject, type Json, parseJson } from "../../domain/json.ts";
import type { Decision, PersonaReturn } from "../model/persona-return.ts";

const maxDecisions = 100;

/** The closing JSON block that the prompt asks for, or the text as it is. */
export function readLastWord(text: string): PersonaReturn {
  const found = lastObject(text);
  const summary = found?.["summary"];
  if (found === undefined || typeof summary !== "string" || summary.trim() === "")
    return { summary: text, outputs: {}, decisions: [] };
  const outputs = found["outputs"];
  return {
    summary: summary.trim(),
    outputs: isJsonObject(outputs) ? outputs : {},
    decisions: decisionsOf(found["decisions"]),
  };
}

/** Fenced or bare, as long as nothing follows. */
function lastObject(text: string): Readonly<Record<string, Json>> | undefined {
  const fenced = text.lastIndexOf("```json");
  const bare = text.trimEnd();
  const candidates = [
    fenced === -1 ? undefined : text.slice(fenced + "```json".length).replace(/```[\s\S]*$/, ""),
    bare.startsWith("{") ? bare : undefined,
  ];
  for (const candidate of candidates) {
    if (candidate === undefined) continue;
    try {
      const value = parseJson(candidate.trim(), { maxBytes: 1024 * 1024, maxDepth: 50, refuseProto: true });
      if (isJsonObject(value)) return value;
    } catch {
      // Not JSON: the text is the summary.
    }
  }
  return undefined;
}

function decisionsOf(value: Json | undefined): Decision[] {
  if (!Array.isArray(value)) return [];
  return (value as readonly Json[]).slice(0, maxDecisions).flatMap((item) => {
    if (!isJsonObject(item) || typeof item["decision"] !== "string") return [];
    const { decision, reason, rejected } = item;
    return [
      {
        decision,
        reason: typeof reason === "string" ? reason : "",
        ...(Array.isArray(rejected) && {
          rejected: (rejected as readonly Json[]).filter((text) => typeof text === "string"),
        }),
      },
    ];
  });
}
