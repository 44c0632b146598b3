import { TeamInvalid } from "../../domain/errors.ts";
import { isJsonObject, type Json, type JsonObject, parseJson, toJsonText } from "../../domain/json.ts";
import { checkSchema } from "../../workspace/json-schema.ts";
import { raceAbort } from "../model/call-limits.ts";
import { type Judged, judgeBySchema, type OfferedTool } from "./offered-tool.ts";
import type { ToolArguments, ToolDone } from "./tool-call.ts";
import { toolValue } from "./tool-value.ts";

export const runsElsewhere = Symbol("runsElsewhere");

/**
 * A tool of the AI SDK, declared by its shape, because the package's public types must not import the SDK's. Without
 * `repeatable` a call whose outcome a crash left unknown is never made again by itself.
 */
export interface OwnTool {
  readonly description?: string | ((options: never) => string) | undefined;
  /** A schema of zod or another library, `jsonSchema(...)` of the SDK, or a JSON Schema. */
  readonly inputSchema: unknown;
  readonly execute?: ((input: never, options: never) => unknown) | undefined;
  /** Whether the same call may be made twice: it only reads, or a second call changes nothing more. */
  readonly repeatable?: boolean | undefined;
  /** How long one call may take; 120,000 by default. */
  readonly timeoutMs?: number | undefined;
  /** Set by a server, which runs code of team files in processes of their own. */
  readonly [runsElsewhere]?: (args: ToolArguments, signal: AbortSignal) => Promise<unknown>;
}

/** The second argument of `execute`: the part of the SDK's that a durable call can have. */
export interface OwnToolOptions {
  readonly toolCallId: string;
  readonly messages: readonly never[];
  readonly abortSignal: AbortSignal;
}

type Execute = (input: unknown, options: OwnToolOptions) => unknown;

export const defaultToolTimeoutMs = 120_000;
const schemaLimits = { what: "the schema", maxBytes: 256 * 1024, maxDepth: 60 };

export async function offerOwnTool(persona: string, name: string, own: OwnTool): Promise<OfferedTool> {
  const { schema, validate } = await readSchema(persona, name, own.inputSchema);
  // The author's own validator checks schemas that ours does not support.
  const isOurs = checkSchema(schema).length === 0;
  const judge = async (value: Json): Promise<Judged> => {
    const judged: Judged = isOurs
      ? judgeBySchema(schema, value)
      : { success: true, value: value as JsonObject };
    if (!judged.success || validate === undefined) return judged;
    const own = await validate(judged.value);
    return own.success ? judged : { success: false, error: own.error };
  };
  return {
    name,
    title: name,
    description: descriptionOf(own),
    input: schema,
    effect: own.repeatable === true ? "repeatable" : "once",
    judge,
    run: async (args, { signal }) => {
      const elsewhere = own[runsElsewhere];
      if (elsewhere !== undefined)
        return executeOwnTool(
          name,
          { ...own, execute: (_, options: OwnToolOptions) => elsewhere(args, options.abortSignal) },
          args,
          signal,
        );
      // The recorded arguments are those of the model; the author's schema may turn them into other values.
      const read = await validate?.(args);
      const input = read?.success === true ? read.value : args;
      return executeOwnTool(name, own, input, signal);
    },
    ...("toModelOutput" in own && { toModelOutput: own.toModelOutput }),
  };
}

/** The SDK lets it depend on a context, which a durable call does not have. */
export function descriptionOf({ description = "" }: OwnTool): string {
  return typeof description === "string" ? description : description({ context: {} } as never);
}

/** Ends when the call does, the attempt is aborted or the time is over, even if the tool ignores its signal. */
export async function executeOwnTool(
  name: string,
  own: OwnTool,
  input: unknown,
  signal: AbortSignal,
): Promise<ToolDone> {
  const ms = own.timeoutMs ?? defaultToolTimeoutMs;
  const late = AbortSignal.timeout(ms);
  const abortSignal = AbortSignal.any([signal, late]);
  const options = { toolCallId: name, messages: [], abortSignal };
  try {
    const returned = raceAbort(
      lastOf(() => (own.execute as Execute)(input, options)),
      abortSignal,
    );
    return toolValue(await returned);
  } catch (error) {
    signal.throwIfAborted();
    if (late.aborted) throw new Error(`${name} did not end within ${ms} ms.`, { cause: error });
    throw error;
  }
}

/** The SDK lets a tool yield preliminary results; the last one is its result. */
async function lastOf(execute: () => unknown): Promise<unknown> {
  const returned: unknown = await execute();
  if (typeof returned !== "object" || returned === null || !(Symbol.asyncIterator in returned))
    return returned;
  let last: unknown;
  for await (const value of returned as AsyncIterable<unknown>) last = value;
  return last;
}

interface ReadSchema {
  readonly schema: JsonObject;
  readonly validate?: (
    value: ToolArguments,
  ) => Promise<
    { readonly success: true; readonly value: unknown } | { readonly success: false; readonly error: Error }
  >;
}

async function readSchema(persona: string, name: string, written: unknown): Promise<ReadSchema> {
  const refuse = (problem: string, cause?: unknown): TeamInvalid =>
    new TeamInvalid(`The inputSchema of the tool ${name} of persona ${persona} ${problem}`, {
      cause,
      advice: "Use a zod object, jsonSchema(...) of the AI SDK, or a JSON Schema of type object.",
    });
  try {
    const { asSchema } = await import("ai");
    const isPlain = isJsonObject(written) && !isSdkSchema(written);
    const found = isPlain ? undefined : asSchema(written as Parameters<typeof asSchema>[0]);
    const schema = parseJson(
      toJsonText(found === undefined ? written : await found.jsonSchema, schemaLimits),
    );
    // Providers take objects only, and refuse the whole call otherwise.
    if (!isJsonObject(schema) || schema["type"] !== "object") throw refuse("is not of type object.");
    const { validate } = found ?? {};
    return { schema, ...(validate && { validate: async (value) => validate(value) }) };
  } catch (error) {
    if (TeamInvalid.is(error)) throw error;
    throw refuse(`cannot be written as JSON Schema: ${(error as Error).message}`, error);
  }
}

const isSdkSchema = (schema: object): boolean =>
  "~standard" in schema || Symbol.for("vercel.ai.schema") in schema || "_zod" in schema;
