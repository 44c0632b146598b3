import { createMcpHandler } from "@modelcontextprotocol/server";
import type { App } from "../routes/route.ts";
import type { Identity } from "../server-status.ts";
import { inProcessApi } from "./in-process-api.ts";
import { mcpServer } from "./mcp-server.ts";

/** Each request has its own MCP server, which acts with the token or login of that request. */
export function httpHandler(
  app: App,
  { version, origin }: Pick<Identity, "version" | "origin">,
): (request: Request) => Promise<Response> {
  const { fetch } = createMcpHandler(({ requestInfo }) => {
    const proof = Object.fromEntries(
      ["authorization", "cookie"].flatMap((name) => {
        const value = requestInfo?.headers.get(name);
        return value == null ? [] : [[name, value]];
      }),
    );
    return mcpServer(inProcessApi(app, origin(), proof), version);
  });
  return (request) => fetch(request);
}
