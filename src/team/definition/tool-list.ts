import { isName, nameRule } from "../../domain/names.ts";
import type { OwnToolDefinition, ToolChoice } from "../../personas/tools/offered-tools.ts";
import type { OwnTool } from "../../personas/tools/own-tool.ts";
import {
  defaultTools,
  isTool,
  namedTools,
  type ToolName,
  toolNames,
  tools,
} from "../../personas/tools/tool-table.ts";
import { globMatcher } from "../../workspace/glob.ts";
import { isPattern } from "./is-pattern.ts";
import { itemsOf, type Kind } from "./kinds.ts";
import type { Place } from "./place.ts";
import { shown } from "./shown.ts";

const allowed = `one of ${toolNames.join(", ")}`;
const listed = "a list of tools";

/** The form in code: names, or an object as in the AI SDK, in which `true` offers a built-in tool. */
export type WrittenTools =
  | readonly (ToolName | `${string}/${string}` | `${string}*${string}`)[]
  | Readonly<Record<string, true | OwnTool>>;

/** Reads and edits only. */
export const toolsExample = defaultTools.filter((name) => ["reads", "edits"].includes(tools[name].doing));

/**
 * In a fixed order, so that the same tools give the same definition. Always includes `submit`, which ends an
 * attempt.
 */
export const toolList: Kind<ToolChoice, WrittenTools> = {
  allowed: `${listed}: ${toolNames.join(", ")}, or globs of them`,
  schema: { type: "array", items: { type: "string", minLength: 1, maxLength: 200 }, maxItems: 1_000 },
  read: (value, place) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? readRecord(value as Readonly<Record<string, unknown>>, place)
      : readList(value, place),
};

function readList(value: unknown, place: Place): ToolChoice | undefined {
  const items = itemsOf(value, place, listed);
  if (items === undefined) return undefined;
  const chosen = new Set<ToolName>();
  const servers = new Set<string>();
  for (const [item, at] of items) {
    if (typeof item !== "string") at.problem(`is ${shown(item)}; it must be ${allowed}.`);
    else if (isOfServer(item)) servers.add(item);
    else for (const tool of named(item, at)) chosen.add(tool);
  }
  return [...inOrder(chosen), ...[...servers].toSorted()];
}

/** Whether the server of "github/create_*" exists is known with the whole team. */
const isOfServer = (item: string): boolean => /^[A-Za-z][A-Za-z0-9_-]{0,63}\/./.test(item);

/** `true` offers a built-in tool. Without any, the team's own tools are added to the default ones. */
function readRecord(record: Readonly<Record<string, unknown>>, place: Place): ToolChoice {
  const chosen = new Set<ToolName>();
  const own: OwnToolDefinition[] = [];
  const servers: string[] = [];
  for (const [name, value] of Object.entries(record)) {
    const at = place.at(name);
    if (value === true && isOfServer(name)) servers.push(name);
    else if (value === true) for (const tool of named(name, at)) chosen.add(tool);
    else if (isOwn(name, value, at)) own.push({ own: name, repeatable: value.repeatable === true });
  }
  const namesBuiltIn = chosen.size > 0;
  return [
    ...inOrder(namesBuiltIn ? chosen : new Set(defaultTools)),
    ...servers.toSorted(),
    ...own.toSorted((one, other) => (one.own < other.own ? -1 : 1)),
  ];
}

function named(item: string, at: Place): readonly ToolName[] {
  if (isTool(item)) return [item];
  // A glob does not match tools that must be named.
  const matched = isPattern(item) ? defaultTools.filter(globMatcher(item)) : [];
  if (matched.length > 0) return matched;
  const hint = at.problems.suggest(item, toolNames) || ` Known: ${toolNames.join(", ")}.`;
  at.problem(`is ${shown(item)}, and there is no such tool.${hint}`);
  return [];
}

const mostToolMs = 86_400_000;

function isOwn(name: string, value: unknown, at: Place): value is OwnTool {
  const before = at.problems.count;
  if (!isName(name)) at.problem(`is no name for a tool. ${nameRule}`, "key");
  if (isTool(name)) at.problem("is the name of a built-in tool; give yours another name.", "key");
  if (typeof value !== "object" || value === null) {
    at.problem(`is ${shown(value)}; it must be true or a tool with description, inputSchema and execute.`);
    return false;
  }
  const { inputSchema, execute, timeoutMs, repeatable, needsApproval } = value as Record<string, unknown>;
  if (typeof execute !== "function") at.problem("has no function execute.");
  if (inputSchema === undefined || inputSchema === null) at.problem("has no inputSchema.");
  if (repeatable !== undefined && typeof repeatable !== "boolean")
    at.at("repeatable").problem(`is ${shown(repeatable)}; it must be true or false.`);
  if (needsApproval !== undefined) at.at("needsApproval").problem("is not supported.");
  const isTime = typeof timeoutMs === "number" && timeoutMs >= 1 && timeoutMs <= mostToolMs;
  if (timeoutMs !== undefined && !isTime)
    at.at("timeoutMs").problem(`is ${shown(timeoutMs)}; it must be a number from 1 to ${mostToolMs}.`);
  return at.problems.count === before;
}

function inOrder(chosen: ReadonlySet<ToolName>): readonly ToolName[] {
  return toolNames.filter((tool) => tool === namedTools.submit || chosen.has(tool));
}
