import { expect, test } from "vitest";
import { McpServer, type McpTransport } from "../../../src/personas/mcp/mcp-server.ts";

/** A program that refuses to start, and says why to people only. */
class Refusing implements McpTransport {
  onmessage?: (message: never) => void;
  readonly lastLine = "npm error code SELF_SIGNED_CERT_IN_CHAIN";

  async start(): Promise<void> {}

  async send(message: unknown): Promise<void> {
    const { id } = message as { readonly id?: number };
    this.onmessage?.({ jsonrpc: "2.0", id, error: { code: -32_000, message: "not ready" } } as never);
  }

  async close(): Promise<void> {}
}

test("a server that does not start is an outage that tells what its program printed last", async () => {
  const server = new McpServer("db", async () => new Refusing());
  const failed = server.tools(new AbortController().signal);
  await expect(failed).rejects.toThrow(
    /MCP server db did not answer: .*npm error code SELF_SIGNED_CERT_IN_CHAIN/,
  );
  await expect(failed).rejects.toMatchObject({ code: "ECONNRESET" });
});
