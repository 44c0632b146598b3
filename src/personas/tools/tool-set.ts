import type { ToolSet } from "ai";
import { TeamInvalid } from "../../domain/errors.ts";
import type { Json } from "../../domain/json.ts";
import type { OfferedTool } from "./offered-tool.ts";
import type { ToolArguments } from "./tool-call.ts";
import type { ToolRunner } from "./tool-runner.ts";

/** The tools as the SDK takes them. `submit` has nothing to execute, which is what ends the loop. */
export async function createTools(offered: readonly OfferedTool[], runner: ToolRunner): Promise<ToolSet> {
  const { jsonSchema, tool } = await import("ai");
  const define = (one: OfferedTool): [string, ToolSet[string]] => {
    const { name, description, input, judge, toModelOutput } = one;
    const inputSchema = jsonSchema<ToolArguments>(input as Parameters<typeof jsonSchema>[0], {
      validate: async (value) => judge(value as Json),
    });
    if (one.run === undefined) return [name, tool({ description, inputSchema })];
    const execute = (args: ToolArguments) => runner.run(one, args);
    const shown = toModelOutput === undefined ? {} : { toModelOutput: toModelOutput as () => never };
    return [name, tool({ description, inputSchema, execute, ...shown })];
  };
  const names = offered.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  // In an object the second one would replace the first in silence.
  if (twice !== undefined)
    throw new TeamInvalid(`Two tools have the name ${twice}.`, { advice: "Give one of them another name." });
  return Object.fromEntries(offered.map(define));
}
