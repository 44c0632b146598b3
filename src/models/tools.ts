import type { Schema, ToolSet } from "ai";
import type { Contract } from "../domain/contract.ts";
import { type Json, type JsonObject, toJsonText } from "../domain/json.ts";
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
  const { tool } = await import("ai");
  const schemas = toolSchemas(contract);
  const define = async (name: ToolName): Promise<[ToolName, ToolSet[string]]> => {
    const { description, input } = schemas[name];
    const validate = await validatorOf(input);
    if (name === "submit") {
      const inputSchema = await schemaOf(input, withOutputs(validate, outputsProblem));
      return [name, tool({ description, inputSchema })];
    }
    const execute = (args: ToolArguments) => runner.run(name, args);
    return [name, tool({ description, inputSchema: await schemaOf(input, validate), execute })];
  };
  return Object.fromEntries(await Promise.all(toolNames.map(define)));
}

/** Shared as the validators are, and for the same reason. */
const schemas = new WeakMap<Validate, Schema<ToolArguments>>();

async function schemaOf(input: JsonObject, validate: Validate): Promise<Schema<ToolArguments>> {
  const { jsonSchema } = await import("ai");
  const known = schemas.get(validate);
  if (known !== undefined) return known;
  const schema = jsonSchema<ToolArguments>(input as Parameters<typeof jsonSchema>[0], { validate });
  schemas.set(validate, schema);
  return schema;
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
