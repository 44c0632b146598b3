import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { leaveMark } from "./effects.ts";
import type { Program } from "./program.ts";

interface Message {
  readonly id?: number | string;
  readonly method: string;
  readonly params?: { readonly arguments?: { readonly item?: string } };
}

const results: Readonly<Record<string, object>> = {
  initialize: {
    protocolVersion: "2025-06-18",
    capabilities: { tools: {} },
    serverInfo: { name: "shop", version: "1" },
  },
  "tools/list": {
    tools: [
      {
        name: "buy",
        description: "Buys an item.",
        inputSchema: { type: "object", properties: { item: { type: "string" } }, required: ["item"] },
      },
    ],
  },
};

/**
 * A service outside of Maestro that marks each call which it gets: an MCP server with one tool, and pages for commands. It may
 * kill the caller before or after a call happens.
 */
export class Shop {
  /** The call that ends this process. */
  kill: { readonly effect: string; readonly moment: string; readonly program: Program } | undefined;
  /** Calls of these happen, and their answer does not arrive. */
  readonly #silent: readonly string[];
  readonly #marks: string;
  readonly #server: Server;

  private constructor(marks: string, silent: readonly string[], server: Server) {
    this.#marks = marks;
    this.#silent = silent;
    this.#server = server;
  }

  static async open(marks: string, silent: readonly string[]): Promise<Shop> {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const shop = new Shop(marks, silent, server);
    server.on("request", (request, response) => void shop.#serve(request, response));
    return shop;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = "";
    for await (const chunk of request as AsyncIterable<Buffer>) text += chunk.toString();
    if (request.url !== "/mcp")
      return this.#happen(decodeURIComponent(request.url ?? "").slice(1), response, "done\n");
    if (request.method !== "POST") return void response.writeHead(405).end();
    const { id, method, params } = JSON.parse(text) as Message;
    if (id === undefined) return void response.writeHead(202).end();
    response.setHeader("content-type", "application/json");
    const answer = (result: object) => JSON.stringify({ jsonrpc: "2.0", id, result });
    if (method !== "tools/call") return void response.end(answer(results[method] ?? {}));
    const label = `buy ${params?.arguments?.item ?? ""}`;
    this.#happen(label, response, answer({ content: [{ type: "text", text: `${label}, done` }] }));
  }

  #happen(label: string, response: ServerResponse, answer: string): void {
    const kill = this.kill?.effect === label ? this.kill : undefined;
    if (kill?.moment !== "before") leaveMark(this.#marks, label);
    if (kill !== undefined) kill.program.signal("SIGKILL");
    if (kill !== undefined || this.#silent.includes(label)) response.destroy();
    else response.end(answer);
  }
}
