import { once } from "node:events";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { App } from "../routes/route.ts";
import type { Identity } from "../server-status.ts";
import { inProcessApi } from "./in-process-api.ts";
import { mcpServer } from "./mcp-server.ts";

/** Serves the client that started this process, with the rights of the state directory's owner, until it leaves. */
export async function serveClient(
  app: App,
  { version, origin }: Pick<Identity, "version" | "origin">,
  token: string,
): Promise<void> {
  const api = inProcessApi(app, origin(), { authorization: `Bearer ${token}` });
  const left = once(process.stdin, "close");
  const client = serveStdio(() => mcpServer(api, version));
  await left;
  await client.close();
}
