import type { RecordedRow } from "../../domain/journal.ts";
import { isJsonObject, type Json, type JsonObject } from "../../domain/json.ts";
import { line, outcomeOf, readStepBody } from "../feed/step-outcome.ts";
import type { StepBlock } from "../schemas/inside.ts";
import { type AskedTool, askedIn, takeAsked, targetOf } from "./asked-tools.ts";
import { isoTime } from "./iso-time.ts";

const mostTextLength = 100_000;
const mostOutputLength = 16_000;
const mostDiffLines = 400;

/** A step's row as a person reads it; `asked` is what its attempt's model asked for and has not got yet. */
export function stepBlocks(row: RecordedRow, asked: AskedTool[]): StepBlock[] {
  if (row.kind === "step.model") return modelBlocks(row, asked);
  const { seq, at, name } = row;
  const placed = { seq, at: isoTime(at) };
  if (row.kind !== "step.tool") return [toolBlock(row, row.name ?? "", "")];
  const args: JsonObject = takeAsked(asked, name)?.args ?? {};
  const { passed } = outcomeOf(row);
  const path = text(args["path"]);
  if (passed && name === "edit_file" && path !== "") return [{ ...placed, ...editOf(name, path, args) }];
  if (passed && name === "write_file" && path !== "") return [{ ...placed, ...writeOf(name, path, args) }];
  return [toolBlock(row, name ?? "", targetOf({ args }))];
}

function modelBlocks(row: RecordedRow, asked: AskedTool[]): StepBlock[] {
  const body = readStepBody(row);
  const result = body?.["result"];
  asked.splice(0, asked.length, ...askedIn(row));
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
  const { passed, outcome } = outcomeOf(row);
  const result = readStepBody(row)?.["result"];
  const output = isJsonObject(result) ? (result["output"] ?? result["message"]) : undefined;
  return {
    kind: "tool",
    seq: row.seq,
    at: isoTime(row.at),
    tool,
    target,
    outcome: line(outcome),
    status: passed ? "passed" : "failed",
    output: typeof output === "string" && output !== "" ? cut(output, mostOutputLength) : null,
  };
}

type Edit = Omit<Extract<StepBlock, { kind: "edit" }>, "seq" | "at">;
type DiffLine = Edit["lines"][number];

/** Passages as they were given; where in the file they are is not on record, so lines count from each passage's start. */
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
