import type { Json } from "../../domain/json.ts";
import type { WorkContext } from "../function.ts";
import type { ContextTool, ContextTools } from "./context-tool.ts";
import type { OfferedTool } from "./offered-tool.ts";
import { builtInNames, builtInTool, ownNames, ownTool, type ToolSources } from "./offered-tools.ts";
import { descriptionOf, executeOwnTool, offerOwnTool } from "./own-tool.ts";
import type { ToolArguments, ToolDone } from "./tool-call.ts";
import { type PersonaPolicy, type ToolRunner, toolPolicy } from "./tool-runner.ts";
import { namedTools, type ToolPorts } from "./tool-table.ts";

/** Given as an option by the process of an isolated function, which runs its own tools itself. */
export interface ElsewhereOption {
  readonly runEffect?: (args?: ToolArguments) => Promise<unknown>;
}

/** The tools of a persona that is a function. */
export function contextTools(
  context: WorkContext,
  sources: ToolSources,
  policy: PersonaPolicy,
  ports: Pick<ToolPorts, "runProgram" | "fetchUrl">,
): ContextTools {
  const { tools: choice, ownTools: own } = sources;
  let running: Promise<ToolRunner> | undefined;
  const run = async (tool: OfferedTool, args: ToolArguments): Promise<Json> => {
    running ??= runnerOf(context, policy, ports, sources.approve);
    return (await running).run(tool, args);
  };
  const builtIns = builtInNames(choice)
    .filter((name) => name !== namedTools.submit)
    .map((name): [string, ContextTool] => {
      const tool = builtInTool(name, context.contract, sources);
      return [
        name,
        { ...describeTool(tool), execute: async (input) => run(tool, await judged(tool, input as Json)) },
      ];
    });
  const others = ownNames(choice).map((name): [string, ContextTool] => {
    const one = ownTool(context.persona, name, own);
    const effect = one.repeatable === true ? "repeatable" : "once";
    const about = { name, title: name, description: descriptionOf(one), input: {}, effect } as const;
    const execute = async (input: unknown, { runEffect }: ElsewhereOption = {}): Promise<Json> => {
      const args = (JSON.parse(JSON.stringify(input ?? {})) ?? {}) as ToolArguments;
      const call = async (given: ToolArguments): Promise<ToolDone> => {
        // A person may have changed them.
        const edited = given === args ? undefined : given;
        return runEffect === undefined
          ? executeOwnTool(name, one, edited ?? input, context.signal)
          : ((await runEffect(edited)) as ToolDone);
      };
      return run(
        // Only of arguments that a person changed: the function's own are its author's.
        {
          ...about,
          judge: async (value) => (await offerOwnTool(context.persona, name, one)).judge(value),
          run: call,
        },
        args,
      );
    };
    return [name, { ...one, description: descriptionOf(one), execute }];
  });
  return Object.fromEntries([...builtIns, ...others]);
}

/** As the SDK reads a schema of any library. */
export function describeTool({ description, input, judge }: OfferedTool): Omit<ContextTool, "execute"> {
  const validate = async (value: unknown) => {
    const read = await judge(value as Json);
    return read.success ? { value: read.value } : { issues: [{ message: read.error.message }] };
  };
  const standard = {
    version: 1,
    vendor: "maestro",
    validate,
    jsonSchema: { input: () => input, output: () => input },
  };
  return { description, inputSchema: { "~standard": standard } };
}

async function judged(tool: OfferedTool, input: Json): Promise<ToolArguments> {
  const read = await tool.judge(input);
  if (read.success) return read.value;
  throw new Error(`Wrong arguments for ${tool.name}: ${read.error.message}`);
}

async function runnerOf(
  context: WorkContext,
  policy: PersonaPolicy,
  { runProgram, fetchUrl }: Pick<ToolPorts, "runProgram" | "fetchUrl">,
  approve: readonly string[],
): Promise<ToolRunner> {
  const [{ ToolRunner }, { mustAsk }, { adviseEdit }] = await Promise.all([
    import("./tool-runner.ts"),
    import("./approval-rules.ts"),
    import("../../workspace/write-guard.ts"),
  ]);
  const { runStep, files, runCheck, contract, refuseProtected, keepText, signal } = context;
  return new ToolRunner({
    runStep,
    files,
    adviseEdit,
    runCheck,
    runProgram,
    fetchUrl,
    keepText,
    contract,
    refuseProtected,
    signal,
    policy: toolPolicy(policy),
    mustAsk: mustAsk(approve),
  });
}
