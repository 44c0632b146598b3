import { isJsonObject, type Json, type JsonObject } from "../../domain/json.ts";
import type { RequestedTool } from "../step-facts.ts";
import { agentItems } from "./agent-items.ts";
import type { AnswerPart, CheckPart, RequestedCall, StepPart, ToolPart, TranscriptPart } from "./item.ts";
import { valueText } from "./message-text.ts";

/** A part with its text. */
export type WithContent<Part = TranscriptPart> = Part & { readonly content: string };

/** Shown where an agent on the command line reports nothing of its prompts. */
export const promptNotVisible = "prompt not visible";

/** Without secrets. */
export interface Outcome {
  readonly result: Json | undefined;
  /** Why it failed. */
  readonly error: string | null;
}

/** Reasoning that the provider encrypts has no text and is left out. */
export function answerParts(model: string, { result, error }: Outcome): WithContent[] {
  const answer = isJsonObject(result) ? result : {};
  const parts = listOf(answer["content"]);
  const texts = (type: string): string =>
    parts.flatMap((part) => (part["type"] === type ? [textOf(part["text"])] : [])).join("\n\n");
  const reasoning = texts("reasoning");
  const { finishReason } = answer;
  const reason = isJsonObject(finishReason) ? finishReason["unified"] : null;
  return [
    ...(reasoning.trim() === "" ? [] : [{ kind: "reasoning", content: reasoning } as const]),
    {
      ...noAnswer(model),
      toolCalls: parts.flatMap(requestedCall),
      finishReason: typeof reason === "string" ? reason : null,
      error,
      content: texts("text"),
    },
  ];
}

const noAnswer = (model: string): AnswerPart => ({
  kind: "answer",
  model,
  toolCalls: [],
  finishReason: null,
  firstTokenMs: null,
  error: null,
  estimated: false,
  reused: false,
});

/** A call that failed and was made again in its place. */
export const failedCall = (error: string): WithContent<AnswerPart> => ({
  ...noAnswer(""),
  error,
  content: "",
});

/** A call whose process ended before its answer was recorded. */
export const lostCall = (model: string): WithContent<AnswerPart> => ({
  ...noAnswer(model),
  estimated: true,
  error: "The answer was lost with the process that asked. The call may be billed.",
  content: "",
});

function requestedCall(part: JsonObject): RequestedCall[] {
  if (part["type"] !== "tool-call") return [];
  const { toolCallId, toolName, input = null } = part;
  return [{ id: textOf(toolCallId), tool: textOf(toolName), arguments: parsed(input) }];
}

/** Some providers send the arguments as JSON text, others as an object. */
function parsed(input: Json): Json {
  if (typeof input !== "string") return input;
  try {
    return JSON.parse(input) as Json;
  } catch {
    return input;
  }
}

export function toolPart(
  name: string,
  request: RequestedTool | undefined,
  { result, error }: Outcome,
): WithContent<ToolPart> {
  const done = isJsonObject(result) ? result : {};
  const { kind, output, message, reason, note, value, artifact } = done;
  const status =
    error !== null || kind === "failed"
      ? "failed"
      : kind === "refused" || kind === "rejected"
        ? kind
        : "done";
  const text = error ?? message ?? reason ?? note ?? output ?? value;
  return {
    kind: "tool",
    tool: name,
    arguments: request?.args ?? null,
    status,
    output: typeof artifact === "string" ? artifact : null,
    content: valueText(text),
  };
}

/** With the end of its output; the whole is an artifact. */
export function checkPart(
  name: string,
  { result, error }: Outcome,
  of: CheckPart["of"],
): WithContent<CheckPart> {
  const { status, message, must, output, ending } = isJsonObject(result) ? result : {};
  const line = error ?? textOf(message);
  return {
    kind: "check",
    check: name,
    status: status === "passed" || status === "failed" ? status : "not-run",
    message: line,
    must: typeof must === "boolean" || must === "no-worse" ? must : null,
    of,
    output: typeof output === "string" ? output : null,
    content: textOf(ending) || line,
  };
}

/** One run of an agent on the command line: what its stream reported, then its last word. */
export function agentParts(name: string, { result, error }: Outcome): WithContent[] {
  const done = isJsonObject(result) ? result : {};
  const items = agentItems(done) ?? [];
  const hasPrompt = items.some(({ kind }) => kind === "prompt");
  const hidden = { messages: null, tools: null, settings: null, repeats: 0, model: name };
  const said = items.map((item): WithContent => {
    if (item.kind === "tool") {
      const { tool, arguments: args, result: output, failed } = item;
      const status = failed ? "failed" : "done";
      return { kind: "tool", tool, arguments: args, status, output: null, content: output };
    }
    if (item.kind === "prompt") return { kind: "prompt", ...hidden, content: item.text };
    return item.kind === "answer"
      ? { ...noAnswer(name), content: item.text }
      : { kind: "reasoning", content: item.text };
  });
  return [
    ...(hasPrompt ? [] : [{ kind: "prompt", ...hidden, content: promptNotVisible } as const]),
    ...said,
    { ...noAnswer(name), error, content: textOf(done["summary"]) },
  ];
}

export const functionPart = (step: string, { result, error }: Outcome): WithContent<StepPart> => ({
  kind: "step",
  step,
  status: error === null ? "done" : "failed",
  content: error ?? valueText(result),
});

const textOf = (value: Json | undefined): string => (typeof value === "string" ? value : "");

const listOf = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? (value as readonly Json[]).filter(isJsonObject) : [];
