import { sha256 } from "../../domain/canonical.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { RunStep } from "../../journal/durable-step.ts";
import { globMatcher } from "../../workspace/glob.ts";
import { checkSchema } from "../../workspace/json-schema.ts";
import { judgeBySchema, type OfferedTool } from "../tools/offered-tool.ts";
import type { ToolArguments } from "../tools/tool-call.ts";
import { shownPart } from "../tools/tool-value.ts";
import type { McpServer, McpToolInfo } from "./mcp-server.ts";

/** A server, and the corrections of its hints. */
export interface NamedServer {
  readonly name: string;
  readonly server: McpServer;
  /** Globs of tools whose calls may be repeated, whatever the server says. */
  readonly repeatable: readonly string[];
}

const maxNameLength = 64;
const resourceTool = "read_resource";
/** The name where the server has a tool of that name itself. */
const otherResourceTool = "read_mcp_resource";

/**
 * The tools of servers that the patterns name: "github/*". The list of each server is a step, because descriptions are part of
 * what a recorded call is found again by. No tool of a server gets one of the `taken` names.
 */
export async function offerMcpTools(
  servers: readonly NamedServer[],
  patterns: readonly string[],
  taken: readonly string[],
  runStep: RunStep,
  signal: AbortSignal,
): Promise<readonly OfferedTool[]> {
  const matchers = patterns.map(globMatcher);
  const isOffered = (title: string): boolean => matchers.some((matches) => matches(title));
  const offered: OfferedTool[] = [];
  for (const one of servers) {
    if (!patterns.some((pattern) => pattern.startsWith(`${one.name}/`))) continue;
    const dependency = `mcp/${one.name}`;
    const { tools } = await runStep<{ readonly tools: readonly McpToolInfo[] }>({
      kind: "tool",
      name: dependency,
      input: { server: one.name, list: "tools" },
      dependency,
      effect: async () => ({ tools: await one.server.tools(signal) }),
    });
    const all = [...listedOnce(tools).map((tool) => offer(one, tool)), readResources(one, tools)];
    offered.push(...all.filter(({ title }) => isOffered(title)));
  }
  return withUniqueNames(offered, taken);
}

const listedOnce = (tools: readonly McpToolInfo[]): readonly McpToolInfo[] => [
  ...new Map(tools.map((tool) => [tool.name, tool])).values(),
];

function offer({ name, server, repeatable }: NamedServer, tool: McpToolInfo): OfferedTool {
  const isRepeatable = tool.repeatable || repeatable.some((glob) => globMatcher(glob)(tool.name));
  const effect = isRepeatable ? "repeatable" : "once";
  // The server checks schemas that our validator does not support.
  const isOurs = checkSchema(tool.input).length === 0;
  return {
    name: nameFor(name, tool.name),
    title: `${name}/${tool.name}`,
    description: tool.description,
    input: tool.input,
    effect,
    dependency: `mcp/${name}`,
    judge: (value) =>
      isOurs ? judgeBySchema(tool.input, value) : { success: true, value: value as ToolArguments },
    run: async (args, { signal, keepText }) =>
      shownPart(await server.call(tool.name, args, effect === "once", signal), keepText),
  };
}

function readResources({ name, server }: NamedServer, tools: readonly McpToolInfo[]): OfferedTool {
  const tool = tools.some((one) => one.name === resourceTool) ? otherResourceTool : resourceTool;
  const input: JsonObject = {
    type: "object",
    properties: { uri: { type: "string", description: "Without it, the resources are listed." } },
    additionalProperties: false,
  };
  return {
    name: nameFor(name, tool),
    title: `${name}/${tool}`,
    description: `Reads a resource of ${name}, or lists them.`,
    input,
    effect: "repeatable",
    dependency: `mcp/${name}`,
    judge: (value) => judgeBySchema(input, value),
    run: async ({ uri }, { signal, keepText }) =>
      shownPart(await server.readResource(uri as string | undefined, signal), keepText),
  };
}

/** Providers take letters, digits, `_` and `-`. The tool's own name stays whole as long as it fits. */
function nameFor(server: string, tool: string): string {
  const plain = tool.replaceAll(/[^A-Za-z0-9_-]/g, "_");
  const name = `${server}_${plain}`;
  if (name.length <= maxNameLength) return name;
  const hash = sha256(`${server}/${tool}`).slice(0, 6);
  if (plain.length <= maxNameLength - 8)
    return `${server.slice(0, maxNameLength - 8 - plain.length)}_${plain}_${hash}`;
  return `${plain.slice(0, maxNameLength - 7)}_${hash}`;
}

/** A name that is taken gets a hash at its end, which depends on nothing but the tool and the names before it. */
function withUniqueNames(offered: readonly OfferedTool[], taken: readonly string[]): readonly OfferedTool[] {
  const seen = new Set(taken);
  return offered.map((tool) => {
    let { name } = tool;
    for (let count = 0; seen.has(name); count += 1) {
      const hash = sha256(count === 0 ? tool.title : `${tool.title}#${count}`).slice(0, 6);
      name = `${tool.name.slice(0, maxNameLength - 7)}_${hash}`;
    }
    seen.add(name);
    return { ...tool, name };
  });
}
