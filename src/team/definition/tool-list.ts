import { namedTools, type ToolName, toolNames, tools } from "../../personas/tools/tool-table.ts";
import { itemsOf, type Kind } from "./kinds.ts";
import { shown } from "./shown.ts";

const allowed = `one of ${toolNames.join(", ")}`;
const listed = "a list of tools";

/** Reads and edits, and nothing else. */
export const toolsExample = toolNames.filter((name) => ["reads", "edits"].includes(tools[name].doing));

/** In a fixed order, so that the same tools make the same definition. Always with `submit`, which ends an attempt. */
export const toolList: Kind<readonly ToolName[]> = {
  allowed: `${listed}: ${toolNames.join(", ")}`,
  schema: { type: "array", items: { enum: toolNames }, maxItems: 1_000 },
  read: (value, place) => {
    const items = itemsOf(value, place, listed);
    if (items === undefined) return undefined;
    const chosen = new Set<ToolName>([namedTools.submit]);
    for (const [item, at] of items) {
      const tool = toolNames.find((name) => name === item);
      if (tool !== undefined) chosen.add(tool);
      else if (typeof item !== "string") at.problem(`is ${shown(item)}; it must be ${allowed}.`);
      else {
        const hint = at.problems.suggest(item, toolNames) || ` Known: ${toolNames.join(", ")}.`;
        at.problem(`is ${shown(item)}, and there is no such tool.${hint}`);
      }
    }
    return toolNames.filter((tool) => chosen.has(tool));
  },
};
