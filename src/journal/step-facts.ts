import { isJsonObject, type Json, type JsonObject } from "../domain/json.ts";
import { redact, redactJson } from "../domain/redact.ts";
import type { RecordedRow } from "./journal.ts";

/** A longer body is not parsed, because one line of text is not worth the time. */
const mostParsedLength = 256 * 1024;
const mostLineLength = 200;

export interface StepSummary {
  readonly passed: boolean;
  /** One line for people; empty if the step has no text of its own. */
  readonly outcome: string;
  /** For a wait: its end. */
  readonly until: number | null;
}

/**
 * A tool call that a model requested. The tool's own row holds its result without its arguments, which may contain
 * secrets.
 */
export interface RequestedTool {
  readonly tool: string;
  readonly args: JsonObject;
}

/**
 * For display, without secrets: a step's record keeps its effect's exact result, because a replay must return the
 * same. Undefined if the body is too long to parse.
 */
export function readStepBody(row: Pick<RecordedRow, "body">): JsonObject | undefined {
  const parsed = parseStep(row);
  return parsed && redactJson(parsed);
}

/** As recorded. Every row becomes a fact, so only the shown line is masked. */
function parseStep({ body }: Pick<RecordedRow, "body">): JsonObject | undefined {
  if (body.length > mostParsedLength) return undefined;
  try {
    const parsed = JSON.parse(body) as Json;
    return isJsonObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

export function summarizeStep(row: Pick<RecordedRow, "kind" | "body">): StepSummary {
  const { error, wait, result } = parseStep(row) ?? {};
  if (isJsonObject(error)) return { passed: false, outcome: firstLine(error["message"]), until: null };
  if (isJsonObject(wait)) {
    const until = wait["notBefore"];
    return { passed: true, outcome: "", until: typeof until === "number" ? until : null };
  }
  return { ...(isJsonObject(result) ? outcomeOf(row.kind, result) : silent), until: null };
}

const silent = { passed: true, outcome: "" };

function outcomeOf(kind: string, result: JsonObject): Pick<StepSummary, "passed" | "outcome"> {
  switch (kind) {
    case "step.tool":
      if (result["kind"] === "failed") return { passed: false, outcome: firstLine(result["message"]) };
      if (result["kind"] === "refused") return { passed: false, outcome: firstLine(result["reason"]) };
      return { passed: true, outcome: firstLine(result["output"]) };
    case "step.check":
      return { passed: result["status"] === "passed", outcome: firstLine(result["message"]) };
    case "step.model":
      return { passed: true, outcome: tokensOut(result) };
    default:
      return silent;
  }
}

function tokensOut({ usage }: JsonObject): string {
  const output = isJsonObject(usage) && isJsonObject(usage["outputTokens"]) ? usage["outputTokens"] : {};
  const total = output["total"];
  return typeof total === "number" ? `${total} tokens out` : "";
}

/** The first line of a text, without secrets and cut to a readable length. */
export function firstLine(text: Json | undefined): string {
  if (typeof text !== "string") return "";
  // Mask before cutting, so that no half of a secret remains at the end.
  const first = redact(text.slice(0, mostLineLength * 4)).split("\n", 1)[0] ?? "";
  return first.length <= mostLineLength ? first : `${first.slice(0, mostLineLength).toWellFormed()}…`;
}

/** The tool calls in a model's answer, in order. */
function requestedTools(row: Pick<RecordedRow, "body">): RequestedTool[] {
  const result = parseStep(row)?.["result"];
  if (!isJsonObject(result) || !Array.isArray(result["content"])) return [];
  return (result["content"] as readonly Json[]).flatMap((part) =>
    isJsonObject(part) && part["type"] === "tool-call"
      ? [{ tool: text(part["toolName"]), args: argumentsOf(part["input"]) }]
      : [],
  );
}

/** Removes and returns the request that a tool's row answers. Earlier requests never ran. */
function takeRequest(requests: RequestedTool[], tool: string | null): RequestedTool | undefined {
  const index = requests.findIndex((each) => each.tool === tool);
  return index === -1 ? undefined : requests.splice(0, index + 1).at(-1);
}

/** The path, pattern or name that a tool works on. */
export function targetOf({ args }: Pick<RequestedTool, "args">): string {
  const [from, to] = [text(args["from"]), text(args["to"])];
  if (from !== "" && to !== "") return redact(`${from} to ${to}`);
  const argv = args["argv"];
  const command = Array.isArray(argv) ? argv.join(" ") : text(args["command"]);
  if (command !== "") return redact(command.slice(0, 200));
  return redact(
    text(args["path"]) ||
      text(args["url"]).slice(0, 200) ||
      text(args["glob"]) ||
      text(args["pattern"]) ||
      text(args["name"]),
  );
}

/** Some providers send the arguments as JSON text, others as an object. */
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

/** Matches tools' rows with the models' requests, row by row. */
export class ToolRequests {
  readonly #open = new Map<number, RequestedTool[]>();

  /** The request that this row answers, if it is a tool's row. */
  read({ kind, attempt, name, body }: RecordedRow): RequestedTool | undefined {
    if (attempt === null) return undefined;
    if (kind === "step.model") this.#open.set(attempt, requestedTools({ body }));
    return kind === "step.tool" ? takeRequest(this.#open.get(attempt) ?? [], name) : undefined;
  }

  /** Requests of the model's last answer that have no row yet. */
  openOf(attempt: number): readonly RequestedTool[] {
    return this.#open.get(attempt) ?? [];
  }

  forget(attempt: number): void {
    this.#open.delete(attempt);
  }
}
