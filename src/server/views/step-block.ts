import { isTool, tools } from "../../api/machine.ts";
import { isoTime } from "../../domain/iso-time.ts";
import { isJsonObject, type Json, type JsonObject } from "../../domain/json.ts";
import { redactJson } from "../../domain/redact.ts";
import type { RecordedRow } from "../../journal/journal.ts";
import { type RequestedTool, readStepBody, summarizeStep, targetOf } from "../../journal/step-facts.ts";
import type { StepBlock } from "../schemas/inside.ts";

const mostTextLength = 100_000;
const mostOutputLength = 16_000;
const mostDiffLines = 400;

/** `request`: the call that the tool's row answers. */
export function stepBlocks(row: RecordedRow, request: RequestedTool | undefined): StepBlock[] {
  if (row.kind === "step.model") return modelBlocks(row);
  const { seq, at } = row;
  const name = row.name ?? "";
  const placed = { seq, at: isoTime(at) };
  if (row.kind !== "step.tool") return [toolBlock(row, row.name ?? "", "")];
  const args: JsonObject = redactJson(request?.args ?? {});
  const { passed } = summarizeStep(row);
  const path = text(args["path"]);
  if (passed && path !== "" && Array.isArray(args["edits"]))
    return [{ ...placed, ...editOf(name, path, args) }];
  if (passed && path !== "" && typeof args["content"] === "string")
    return [{ ...placed, ...writeOf(name, path, args) }];
  return [toolBlock(row, name, targetOf({ args }))];
}

function modelBlocks(row: RecordedRow): StepBlock[] {
  const body = readStepBody(row);
  const result = body?.["result"];
  if (!isJsonObject(result) || !Array.isArray(result["content"]))
    return [toolBlock(row, row.name ?? "model", "")];
  const content = result["content"] as readonly Json[];
  const said = content
    .flatMap((part) => (isJsonObject(part) && part["type"] === "text" ? [text(part["text"])] : []))
    .join("\n");
  if (said.trim() === "") return [];
  return [{ kind: "text", seq: row.seq, at: isoTime(row.at), text: cut(said, mostTextLength) }];
}

function toolBlock(row: RecordedRow, tool: string, target: string): StepBlock {
  const { passed, outcome, until } = summarizeStep(row);
  const result = readStepBody(row)?.["result"];
  const output = isJsonObject(result) ? (result["output"] ?? result["message"]) : undefined;
  return {
    kind: "tool",
    seq: row.seq,
    at: isoTime(row.at),
    tool,
    doing: isTool(tool) ? tools[tool].doing : null,
    target,
    outcome: until === null ? outcome : `until ${isoTime(until)}`,
    status: passed ? "passed" : "failed",
    output: typeof output === "string" && output !== "" ? cut(output, mostOutputLength) : null,
  };
}

type Edit = Omit<Extract<StepBlock, { kind: "edit" }>, "seq" | "at">;
type DiffLine = Edit["lines"][number];

/** Lines count from the start of each passage, because the record does not contain its place in the file. */
function editOf(tool: string, path: string, { edits }: JsonObject): Edit {
  const pairs = Array.isArray(edits) ? (edits as readonly Json[]).filter(isJsonObject) : [];
  const lines = pairs.flatMap(({ find, replace }) => [
    ...numbered("-", text(find)),
    ...numbered("+", text(replace)),
  ]);
  return editBlock(tool, path, lines);
}

function writeOf(tool: string, path: string, { content }: JsonObject): Edit {
  return editBlock(tool, path, numbered("+", text(content)));
}

function editBlock(tool: string, path: string, lines: readonly DiffLine[]): Edit {
  const count = (sign: string) => lines.filter((each) => each.sign === sign).length;
  return {
    kind: "edit",
    tool,
    path,
    addedLines: count("+"),
    removedLines: count("-"),
    lines: lines.slice(0, mostDiffLines),
  };
}

function numbered(sign: "+" | "-", passage: string): DiffLine[] {
  if (passage === "") return [];
  return passage.split("\n").map((text, index) => ({ sign, number: index + 1, text: cut(text, 2_000) }));
}

const text = (value: Json | undefined): string => (typeof value === "string" ? value : "");

const cut = (value: string, length: number): string =>
  value.length <= length ? value : `${value.slice(0, length).toWellFormed()}…`;
