import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

interface Message {
  readonly id?: number | string;
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

type Params = Readonly<Record<string, unknown>>;

/** A result, an `error`, or whatever the answerer writes by itself. */
type Answer = (params: Params, response: ServerResponse) => unknown;

export interface OddMcp {
  readonly tools?: readonly (string | Readonly<Record<string, unknown>>)[];
  /** By method, such as "tools/call"; undefined: nothing more is written. */
  readonly answers?: Readonly<Record<string, Answer>>;
}

/** An MCP server over streamable HTTP on loopback, whose answers the test decides to the byte. */
export async function loopbackMcp({ tools = [], answers = {} }: OddMcp) {
  const calls: { readonly name: string; readonly arguments: unknown }[] = [];
  const table: Readonly<Record<string, Answer>> = {
    initialize: () => ({
      protocolVersion: "2025-06-18",
      capabilities: { tools: {}, resources: {} },
      serverInfo: { name: "odd", version: "1" },
    }),
    "tools/list": () => ({
      tools: tools.map((tool) =>
        typeof tool === "string" ? { name: tool, description: tool, inputSchema: { type: "object" } } : tool,
      ),
    }),
    ...answers,
  };
  const server = createServer((request, response) => {
    void bodyOf(request).then(async (text) => {
      if (request.method !== "POST") return response.writeHead(405).end();
      const { id, method, params = {} } = JSON.parse(text) as Message;
      if (id === undefined) return response.writeHead(202).end();
      if (method === "tools/call") calls.push(params as (typeof calls)[number]);
      const answer = table[method] ?? (() => ({ error: { code: -32601, message: `no method ${method}` } }));
      const result = await answer(params, response);
      if (result !== undefined) writeResult(response, id, result);
      return undefined;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, calls };
}

export const answerText = (text: string): object => ({ content: [{ type: "text", text }] });

function writeResult(response: ServerResponse, id: number | string, result: unknown): void {
  const body = (result as { error?: unknown }).error === undefined ? { result } : (result as object);
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ jsonrpc: "2.0", id, ...body }));
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request as AsyncIterable<Buffer>) text += chunk.toString();
  return text;
}
