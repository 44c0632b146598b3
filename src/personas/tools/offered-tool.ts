import type { Contract } from "../../domain/contract.ts";
import { isJsonObject, type Json, type JsonObject, toJsonText } from "../../domain/json.ts";
import { type SchemaProblem, showProblem, validateJson } from "../../workspace/json-schema.ts";
import type { ToolArguments, ToolDone } from "./tool-call.ts";
import { type ToolEffect, type ToolName, type ToolPorts, tools } from "./tool-table.ts";

export type Judged =
  | { readonly success: true; readonly value: ToolArguments }
  | { readonly success: false; readonly error: Error };

/** A tool as one persona has it, from the table, the team's code or a server. */
export interface OfferedTool {
  /** As the model calls it. */
  readonly name: string;
  /** As team files name it: "github/create_issue". */
  readonly title: string;
  readonly description: string;
  /** JSON Schema of its arguments, as the model gets it. */
  readonly input: JsonObject;
  readonly effect: ToolEffect;
  /** A hash of what it reads besides its arguments and the files: part of what its calls are found again by. */
  readonly reads?: string;
  /** For the policy; see `Tool`. */
  readonly writes?: readonly string[];
  readonly runsCheck?: true;
  /** The service it calls, which has a breaker. */
  readonly dependency?: string | ((args: ToolArguments) => string | undefined);
  /** A person's answer is its result. */
  readonly asksPerson?: true;
  readonly judge: (value: Json) => Judged | Promise<Judged>;
  /** Without it the call ends the conversation. */
  readonly run?: (args: ToolArguments, ports: ToolPorts) => Promise<string | ToolDone>;
  /** The SDK's own member: how a result is shown to the model. */
  readonly toModelOutput?: unknown;
}

const maxProblems = 5;
const outputsLimits = { what: "outputs", maxDepth: 50, maxBytes: 1024 * 1024 };

/** A tool of the table, for this contract. */
export function builtIn(name: ToolName, contract: Contract): OfferedTool {
  const { run, description, input, asksPerson, effect = "repeatable", writes, runsCheck } = tools[name];
  const schema = input(contract);
  const outputs = run === undefined ? contract.outputs : undefined;
  return {
    name,
    title: name,
    description: description(contract),
    input: schema,
    effect,
    ...(asksPerson && { asksPerson }),
    judge: (value) => judgeBuiltIn(schema, outputs, value),
    ...(writes && { writes }),
    ...(runsCheck && { runsCheck }),
    ...(run !== undefined && { run }),
  };
}

function judgeBuiltIn(input: JsonObject, outputs: JsonObject | undefined, value: Json): Judged {
  const read = withoutNulls(value);
  return judged(read, [
    ...validateJson(withFreeOutputs(input, outputs), read),
    ...outputsProblems(read, outputs),
  ]);
}

/** Judges arguments by a schema that a model got. A null is kept where the schema allows it. */
export function judgeBySchema(schema: JsonObject, value: Json): Judged {
  const problems = validateJson(schema, value);
  if (problems.length === 0) return judged(value, problems);
  const read = withoutNulls(value);
  return validateJson(schema, read).length === 0 ? judged(read, []) : judged(value, problems);
}

function judged(value: Json, problems: readonly SchemaProblem[]): Judged {
  if (problems.length > 0)
    return { success: false, error: new Error(problems.slice(0, maxProblems).map(showProblem).join("; ")) };
  if (isJsonObject(value)) return { success: true, value };
  return { success: false, error: new Error("The arguments are not an object.") };
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
