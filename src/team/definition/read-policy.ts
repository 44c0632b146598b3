import type { Contract } from "../../domain/contract.ts";
import { Fields } from "./fields.ts";
import { glob, toolName, word } from "./kinds.ts";
import { shown } from "./shown.ts";
import { type PolicyDefinition, type ToolName, toolNames, type WorkDefinition } from "./team-definition.ts";

const shape = { allowed: "an object with write, checks and tools", keys: ["write", "checks", "tools"] };

export function readPolicy(
  owner: Fields,
  contract: Contract,
  work: WorkDefinition | undefined,
): PolicyDefinition {
  const short = readTools(owner);
  const fields = owner.has("policy")
    ? Fields.of(owner.value("policy"), owner.place.at("policy"), shape)
    : undefined;
  if (fields === undefined) return { write: null, checks: null, tools: short };
  const tools = readTools(fields);
  if (tools !== null && work !== undefined && work.kind !== "model") {
    fields.place.at("tools").problem(`has no effect: the work is a ${work.kind}.`, "key");
  }
  if (fields.has("checks") && work !== undefined && work.kind !== "model") {
    fields.place.at("checks").problem(`has no effect: the work is a ${work.kind}.`, "key");
  }
  if (short !== null && tools !== null)
    fields.place.at("tools").problem("is said by tools already: keep one.");
  return {
    write: fields.set("write", glob, "a list of globs") ?? null,
    checks: readChecks(fields, contract),
    tools: short ?? tools,
  };
}

/** In one order, so that the same tools are the same definition. */
function readTools(fields: Fields): readonly ToolName[] | null {
  const items = fields.items("tools", "a list of tools");
  if (items === undefined) return null;
  const chosen = new Set<ToolName>(["submit"]);
  for (const [item, place] of items) {
    const tool = toolName.read(item);
    if (tool !== undefined) chosen.add(tool);
    else if (typeof item !== "string") place.problem(`is ${shown(item)}; it must be ${toolName.allowed}.`);
    else {
      const hint = place.problems.suggest(item, toolNames) || ` Known: ${toolNames.join(", ")}.`;
      place.problem(`is ${shown(item)}, and there is no such tool.${hint}`);
    }
  }
  return toolNames.filter((tool) => chosen.has(tool));
}

function readChecks(fields: Fields, { checks }: Contract): readonly string[] | null {
  const allowed = fields.set("checks", word("the name of a check"), "a list of names of checks");
  if (allowed === undefined) return null;
  const known = checks.map(({ name }) => name);
  for (const name of allowed) {
    if (known.includes(name)) continue;
    const hint = fields.place.problems.suggest(name, known);
    fields.place.at("checks").problem(`names ${shown(name)}, and its contract has no such check.${hint}`);
  }
  return allowed;
}
