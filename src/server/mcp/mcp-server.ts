import { McpServer } from "@modelcontextprotocol/server";
import { actingTools } from "./acting-tools.ts";
import { readingTools } from "./reading-tools.ts";
import { type Api, Refused } from "./tool.ts";

export const tools = [...readingTools, ...actingTools];

const instructions =
  "Maestro runs teams of AI personas through phases and never pays twice for recorded work. Start a session with a key of your own, watch it, answer what waits for a person, and read its diff.";

/** An MCP server whose tools are requests to the HTTP API. */
export function mcpServer(api: Api, version: string): McpServer {
  const server = new McpServer({ name: "maestro", version }, { capabilities: { tools: {} }, instructions });
  for (const { name, description, input, isReadOnly, call } of tools)
    server.registerTool(
      name,
      { description, inputSchema: input, annotations: { readOnlyHint: isReadOnly, openWorldHint: false } },
      async (given, { mcpReq: { signal } }) => {
        try {
          return { content: [{ type: "text", text: await call(given, api, signal) }] };
        } catch (error) {
          if (!(error instanceof Refused)) throw error;
          return { content: [{ type: "text", text: error.message }], isError: true };
        }
      },
    );
  return server;
}
