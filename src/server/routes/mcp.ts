import { createRoute, z } from "@hono/zod-openapi";
import type { ServerParts } from "../server-parts.ts";
import { type App, addRoute, body, json, problems } from "./route.ts";

const message = z.looseObject({ jsonrpc: z.literal("2.0") }).openapi("McpMessage");

const mcpRoute = createRoute({
  method: "post",
  path: "/mcp",
  operationId: "mcp",
  summary: "An MCP server over Streamable HTTP; its tools may do what the caller's role may",
  request: { body: body(z.union([message, z.array(message)])) },
  responses: {
    200: {
      description: "The answer; as one server-sent event if it is accepted.",
      content: { ...json("", message).content, "text/event-stream": { schema: z.string() } },
    },
    202: { description: "A notification was received." },
    ...problems,
  },
});

/** `POST` only: the server has no sessions and sends nothing unasked. */
export function addMcpRoute(app: App, { identity }: ServerParts): void {
  // The SDK is loaded by the first request.
  let loading: ReturnType<typeof load> | undefined;
  const load = async () => (await import("../mcp/http-handler.ts")).httpHandler(app, identity);

  addRoute(app, "viewer", mcpRoute, async (c) => {
    loading ??= load();
    const { url, headers, signal } = c.req.raw;
    const text = await c.req.text();
    return (await loading)(new Request(url, { method: "POST", headers, body: text, signal }));
  });
}
