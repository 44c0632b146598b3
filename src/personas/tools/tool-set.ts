import type { ToolSet } from "ai";
import type { Contract } from "../../domain/contract.ts";
import { isJsonObject, type Json, type JsonObject, toJsonText } from "../../domain/json.ts";
import { type SchemaProblem, showProblem, validateJson } from "../../workspace/json-schema.ts";
import type { ToolRunner } from "./tool-runner.ts";
import { type ToolArguments, type ToolName, toolNames, tools } from "./tool-table.ts";

const maxProblems = 5;
const outputsLimits = { what: "outputs", maxDepth: 50, maxBytes: 1024 * 1024 };

/** The tools as the SDK takes them. `submit` has nothing to execute, which is what ends the loop. */
export async function createTools(contract: Contract, runner: ToolRunner): Promise<ToolSet> {
  const { jsonSchema, tool } = await import("ai");
  const define = (name: ToolName): [ToolName, ToolSet[string]] => {
    const { run, ...of } = tools[name];
    const [description, input] = [of.description(contract), of.input(contract)];
    const outputs = run === undefined ? contract.outputs : undefined;
    const inputSchema = jsonSchema<ToolArguments>(input as Parameters<typeof jsonSchema>[0], {
      validate: (value) => readArguments(input, outputs, value as Json),
    });
    if (run === undefined) return [name, tool({ description, inputSchema })];
    return [name, tool({ description, inputSchema, execute: (args) => runner.run(name, args) })];
  };
  return Object.fromEntries(toolNames.map(define));
}

type Read =
  | { readonly success: true; readonly value: ToolArguments }
  | { readonly success: false; readonly error: Error };

/** Judges arguments by the schema that the model got. */
function readArguments(input: JsonObject, outputs: JsonObject | undefined, value: Json): Read {
  const read = withoutNulls(value);
  const problems = [
    ...validateJson(withFreeOutputs(input, outputs), read),
    ...outputsProblems(read, outputs),
  ];
  if (problems.length === 0) return { success: true, value: read as ToolArguments };
  return { success: false, error: new Error(problems.slice(0, maxProblems).map(showProblem).join("; ")) };
}

/** The contract's schema is judged apart: a `$ref` in it means a place in that schema. */
const withFreeOutputs = (input: JsonObject, outputs: JsonObject | undefined): JsonObject =>
  outputs === undefined
    ? input
    : { ...input, properties: { ...(input["properties"] as JsonObject), outputs: true } };

function outputsProblems(read: Json, schema: JsonObject | undefined): readonly SchemaProblem[] {
  const outputs = isJsonObject(read) ? read["outputs"] : undefined;
  if (outputs === undefined) return [];
  try {
    toJsonText(outputs, outputsLimits);
  } catch (error) {
    return [{ pointer: "/outputs", message: (error as Error).message }];
  }
  if (schema === undefined) return [];
  return validateJson(schema, outputs).map(({ pointer, message }) => ({
    pointer: `/outputs${pointer}`,
    message,
  }));
}

/** Some models send null for a member they leave out. The outputs are the team's own: there null may mean something. */
function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(
    members.map(([key, member]) => [key, key === "outputs" ? member : withoutNulls(member)]),
  );
}
