import { PersonaCrashed } from "../../domain/errors.ts";
import { keepSecret } from "../../domain/redact.ts";
import { raceAbort } from "../../personas/model/call-limits.ts";
import type { ToolArguments } from "../../personas/tools/tool-call.ts";
import { FunctionProcess } from "./function-process.ts";
import { type FunctionPlace, fromThrown, valueOf } from "./protocol.ts";

/** One call of a tool that a model's team file has in code, in a process of its own. */
export async function runToolInChild(
  place: FunctionPlace,
  tool: string,
  args: ToolArguments,
  memoryMb: number,
  signal: AbortSignal,
): Promise<unknown> {
  const child = new FunctionProcess(place.persona, memoryMb);
  await child.started();
  const end = Promise.withResolvers<unknown>();
  const gone = child.gone().then((error) => end.reject(asToolError(tool, error)));
  child.listen((message) => {
    if (message.kind === "returned") end.resolve(valueOf(message));
    if (message.kind === "failed" || message.kind === "stray") end.reject(fromThrown(message.error));
    if (message.kind === "secrets") keepSecret(message.secrets);
  }, end.reject);
  child.send({ kind: "call", place, tool, arguments: args });
  try {
    return await raceAbort(end.promise, signal);
  } finally {
    child.kill();
    await gone;
    end.promise.catch(() => {});
  }
}

/** The model reads it: a tool that ends its process has failed, and the attempt has not. */
const asToolError = (tool: string, error: unknown): unknown =>
  PersonaCrashed.is(error)
    ? new Error(`The process of the tool ${tool} ended before the tool did.`, { cause: error })
    : error;
