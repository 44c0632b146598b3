import type { RecordedRow } from "../../domain/journal.ts";
import { isJsonObject, type Json, type JsonObject } from "../../domain/json.ts";
import { readStepBody } from "../feed/step-outcome.ts";

/** A tool that a model asked for: its own row has its result and not its arguments. */
export interface AskedTool {
  readonly tool: string;
  readonly args: JsonObject;
}

/** What a model's answer asks for, in order. */
export function askedIn(row: RecordedRow): AskedTool[] {
  const result = readStepBody(row)?.["result"];
  if (!isJsonObject(result) || !Array.isArray(result["content"])) return [];
  return (result["content"] as readonly Json[]).flatMap((part) =>
    isJsonObject(part) && part["type"] === "tool-call"
      ? [{ tool: text(part["toolName"]), args: argumentsOf(part["input"]) }]
      : [],
  );
}

/** The one that a tool's row answers; those before it were never run. */
export function takeAsked(asked: AskedTool[], tool: string | null): AskedTool | undefined {
  const index = asked.findIndex((each) => each.tool === tool);
  return index === -1 ? undefined : asked.splice(0, index + 1).at(-1);
}

/** What a tool works on, in one word: a path, a pattern, a name. */
export function targetOf({ args }: Pick<AskedTool, "args">): string {
  return text(args["path"]) || text(args["glob"]) || text(args["pattern"]) || text(args["name"]);
}

/** Providers give the arguments of a call as JSON text or as an object. */
function argumentsOf(input: Json | undefined): JsonObject {
  if (isJsonObject(input)) return input;
  if (typeof input !== "string") return {};
  try {
    const parsed = JSON.parse(input) as Json;
    return isJsonObject(parsed) ? parsed : {};
  } catch {
    return {};
  }
}

const text = (value: Json | undefined): string => (typeof value === "string" ? value : "");
