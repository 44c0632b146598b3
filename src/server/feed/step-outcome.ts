import type { RecordedRow } from "../../domain/journal.ts";
import { isJsonObject, type Json, type JsonObject } from "../../domain/json.ts";

/** Longer bodies are not parsed for one line of text. */
const mostParsedLength = 256 * 1024;
const mostOutcomeLength = 200;

export interface StepOutcome {
  readonly passed: boolean;
  /** One line for people; empty when there is nothing to say. */
  readonly outcome: string;
}

/** The body of a step's row, as far as it can be read quickly. */
export function readStepBody({ body }: Pick<RecordedRow, "body">): JsonObject | undefined {
  if (body.length > mostParsedLength) return undefined;
  try {
    const parsed = JSON.parse(body) as Json;
    return isJsonObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

export function outcomeOf(row: RecordedRow): StepOutcome {
  const body = readStepBody(row);
  if (body === undefined) return { passed: true, outcome: "" };
  const { error, wait, result } = body;
  if (isJsonObject(error)) return { passed: false, outcome: line(error["message"]) };
  if (isJsonObject(wait)) return { passed: true, outcome: `until ${isoTime(wait["notBefore"])}` };
  if (!isJsonObject(result)) return { passed: true, outcome: "" };
  switch (row.kind) {
    case "step.tool":
      return toolOutcome(result);
    case "step.check":
      return { passed: result["status"] === "passed", outcome: line(result["message"]) };
    case "step.model":
      return { passed: true, outcome: modelOutcome(result) };
    default:
      return { passed: true, outcome: "" };
  }
}

function toolOutcome(result: JsonObject): StepOutcome {
  if (result["kind"] === "failed") return { passed: false, outcome: line(result["message"]) };
  if (result["kind"] === "refused") return { passed: false, outcome: line(result["reason"]) };
  return { passed: true, outcome: line(result["output"]) };
}

function modelOutcome({ usage }: JsonObject): string {
  const output = isJsonObject(usage) && isJsonObject(usage["outputTokens"]) ? usage["outputTokens"] : {};
  const total = output["total"];
  return typeof total === "number" ? `${total} tokens out` : "";
}

/** The first line, and not all of it. */
export function line(text: Json | undefined): string {
  if (typeof text !== "string") return "";
  const first = text.slice(0, mostOutcomeLength * 2).split("\n", 1)[0] ?? "";
  return first.length <= mostOutcomeLength ? first : `${first.slice(0, mostOutcomeLength).toWellFormed()}…`;
}

function isoTime(at: Json | undefined): string {
  return typeof at === "number" ? new Date(at).toISOString() : "";
}
