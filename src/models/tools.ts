import type { ToolSet } from "ai";
import type { Contract } from "../domain/contract.ts";
import { type Json, toJsonText } from "../domain/json.ts";
import type { ToolArguments } from "./tool-effects.ts";
import type { ToolRunner } from "./tool-runner.ts";
import { type ToolName, toolNames, toolSchemas } from "./tool-schemas.ts";
import { type Validate, validatorOf } from "./tool-validators.ts";

/** What is wrong with the outputs of a submission, in a sentence; nothing when they fit. */
export type OutputsProblem = (outputs: Json) => string | undefined;

/** The tools as the SDK takes them. `submit` has nothing to execute, which is what ends the loop. */
export async function createTools(
  contract: Contract,
  runner: ToolRunner,
  outputsProblem?: OutputsProblem,
): Promise<ToolSet> {
  const { jsonSchema, tool } = await import("ai");
  const schemas = toolSchemas(contract);
  const define = async (name: ToolName): Promise<[ToolName, ToolSet[string]]> => {
    const { description, input } = schemas[name];
    const validate = await validatorOf(input);
    const schema = (judge: Validate) =>
      jsonSchema<ToolArguments>(input as Parameters<typeof jsonSchema>[0], { validate: judge });
    if (name === "submit") {
      return [name, tool({ description, inputSchema: schema(withOutputs(validate, outputsProblem)) })];
    }
    const execute = (args: ToolArguments) => runner.run(name, args);
    return [name, tool({ description, inputSchema: schema(validate), execute })];
  };
  return Object.fromEntries(await Promise.all(toolNames.map(define)));
}

function withOutputs(validate: Validate, outputsProblem: OutputsProblem | undefined): Validate {
  return (value) => {
    const read = validate(value);
    if (!read.success) return read;
    const { outputs } = read.value;
    const wrong = depthProblem(outputs) ?? outputsProblem?.(outputs ?? {});
    return wrong === undefined ? read : { success: false, error: new Error(wrong) };
  };
}

function depthProblem(outputs: Json | undefined): string | undefined {
  try {
    toJsonText(outputs, { what: "outputs", maxDepth: 50, maxBytes: 1024 * 1024 });
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
