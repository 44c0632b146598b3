import { ConfigInvalid, DidNotHappen, MaestroError } from "../../domain/errors.ts";
import { isJsonObject, type Json, type JsonObject, parseJson, toJsonText } from "../../domain/json.ts";
import { ServiceLost } from "./service-lost.ts";
import { AnswerTooLong, onStreamEnd, watchedFetch } from "./watched-fetch.ts";

/** A tool as its server describes it, recorded once an attempt. */
export interface McpToolInfo {
  readonly name: string;
  readonly description: string;
  readonly input: JsonObject;
  /** The server says that a second call changes nothing more. */
  readonly repeatable: boolean;
}

/** The transport of `@ai-sdk/mcp`, declared by its shape. */
export interface McpTransport {
  onmessage?: (message: never) => void;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  /** The last lines that the program printed for people. */
  readonly lastLine: string;
  start(): Promise<void>;
  send(message: unknown): Promise<void>;
  close(): Promise<void>;
}

/** How a server is reached: an address, or a program that was started for it. */
export type McpConnection =
  | { readonly type: "http"; readonly url: string; readonly headers: Readonly<Record<string, string>> }
  | McpTransport;

const connectMs = 60_000;
const defaultCallMs = 300_000;
const maxTools = 500;
const maxResources = 2_000;
const maxPages = 50;
const maxDescription = 4_000;
const schemaLimits = { what: "a tool's schema", maxBytes: 256 * 1024, maxDepth: 60 };

type Client = Awaited<ReturnType<typeof import("@ai-sdk/mcp")["createMCPClient"]>>;

/** One server of an attempt. It is connected at the first use, and again after it was lost. */
export class McpServer {
  readonly #name: string;
  readonly #callMs: number;
  readonly #connect: () => Promise<McpConnection>;
  #client: Promise<Client> | undefined;
  /** Ends the answer that is awaited. */
  #lose: ((error: Error) => void) | undefined;

  constructor(name: string, connect: () => Promise<McpConnection>, callMs = defaultCallMs) {
    this.#name = name;
    this.#callMs = callMs;
    this.#connect = connect;
  }

  async tools(signal: AbortSignal): Promise<readonly McpToolInfo[]> {
    const client = await this.#connected(signal);
    const found: McpToolInfo[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < maxPages && found.length < maxTools; page += 1) {
      const options = {
        options: { signal, timeout: connectMs },
        ...(cursor !== undefined && { params: { cursor } }),
      };
      const listed = await this.#answer(() => client.listTools(options)).catch((error: unknown) =>
        this.#fail(error),
      );
      found.push(...listed.tools.flatMap(readTool));
      cursor = listed.nextCursor;
      if (cursor === undefined) break;
    }
    return found.slice(0, maxTools).toSorted((one, other) => (one.name < other.name ? -1 : 1));
  }

  /**
   * The whole text of the answer, which is data and never an instruction to us. An error that the server reports is its
   * answer.
   */
  async call(tool: string, args: JsonObject, isOnce: boolean, signal: AbortSignal): Promise<string> {
    const client = await this.#reached(isOnce, signal);
    try {
      const options = { signal, timeout: this.#callMs };
      return textOf(
        await this.#answer(() => client.callTool({ name: tool, arguments: { ...args }, options })),
      );
    } catch (error) {
      signal.throwIfAborted();
      return answeredError(error) ?? this.#fail(error);
    }
  }

  async readResource(uri: string | undefined, signal: AbortSignal): Promise<string> {
    const client = await this.#connected(signal);
    const options = { signal, timeout: this.#callMs };
    try {
      if (uri === undefined) return await this.#listResources(client, options);
      const { contents } = await this.#answer(() => client.readResource({ uri, options }));
      return textOf({ content: contents.map((resource) => ({ type: "resource", resource })) });
    } catch (error) {
      signal.throwIfAborted();
      return answeredError(error) ?? this.#fail(error);
    }
  }

  async #listResources(
    client: Client,
    options: { readonly signal: AbortSignal; readonly timeout: number },
  ): Promise<string> {
    const lines: string[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < maxPages && lines.length < maxResources; page += 1) {
      const params = cursor === undefined ? {} : { params: { cursor } };
      const { resources, nextCursor } = await this.#answer(() =>
        client.listResources({ options, ...params }),
      );
      for (const { uri, name, description = "" } of resources)
        lines.push(`${uri} ${name} ${description}`.trim());
      cursor = nextCursor;
      if (cursor === undefined) return lines.length === 0 ? "[there are no resources]" : lines.join("\n");
    }
    return `${lines.slice(0, maxResources).join("\n")}\n[there are more; these are the first]`;
  }

  async close(): Promise<void> {
    const client = await this.#client?.catch(() => undefined);
    this.#client = undefined;
    await client?.close().catch(() => undefined);
  }

  /** A call that was never sent did not happen. */
  async #reached(isOnce: boolean, signal: AbortSignal): Promise<Client> {
    try {
      return await this.#connected(signal);
    } catch (cause) {
      signal.throwIfAborted();
      if (!isOnce || MaestroError.is(cause)) throw cause;
      throw new DidNotHappen((cause as Error).message, { cause });
    }
  }

  /** Ends with the answer, or when it can no longer come. */
  #answer<T>(ask: () => Promise<T>): Promise<T> {
    const { promise, reject } = Promise.withResolvers<never>();
    this.#lose = reject;
    return Promise.race([onStreamEnd.run(reject, ask), promise]);
  }

  #connected(signal: AbortSignal): Promise<Client> {
    this.#client ??= this.#start(signal).catch((error: unknown) => {
      this.#client = undefined;
      return this.#fail(error);
    });
    return this.#client;
  }

  async #start(signal: AbortSignal): Promise<Client> {
    const { createMCPClient } = await import("@ai-sdk/mcp");
    const connection = await this.#connect();
    const transport = (
      "type" in connection ? { ...connection, fetch: watchedFetch } : connection
    ) as Parameters<typeof createMCPClient>[0]["transport"];
    try {
      return await createMCPClient({
        transport,
        clientName: "maestro",
        initializationOptions: { signal, timeout: connectMs },
        // Of other errors the next call finds out by itself.
        onUncaughtError: (error) => {
          if (error instanceof AnswerTooLong || error instanceof ServiceLost) this.#lose?.(error);
        },
      });
    } catch (error) {
      const printed = "type" in connection ? "" : connection.lastLine;
      if (printed === "" || error instanceof ServiceLost) throw error;
      throw new Error(`${(error as Error).message}. It printed: ${printed}`, { cause: error });
    }
  }

  /** The next use starts the server again. */
  #fail(error: unknown): never {
    const lost = this.#client;
    this.#client = undefined;
    void lost?.then((client) => client.close()).catch(() => undefined);
    // A missing program or variable: waiting does not help.
    if (error instanceof ServiceLost || MaestroError.is(error)) throw error;
    const { statusCode } = error as { readonly statusCode?: unknown };
    if (statusCode === 401 || statusCode === 403)
      throw new ConfigInvalid(`The MCP server ${this.#name} refuses to answer (HTTP ${statusCode}).`, {
        advice: "Correct its headers, or the variables that they name, then resume.",
      });
    throw new ServiceLost(`The MCP server ${this.#name} did not answer: ${(error as Error).message}`, error);
  }
}

function readTool(listed: {
  name: string;
  description?: string | undefined;
  inputSchema: unknown;
}): McpToolInfo[] {
  const { annotations } = listed as { annotations?: { readOnlyHint?: unknown; idempotentHint?: unknown } };
  let input: Json;
  try {
    input = parseJson(toJsonText(listed.inputSchema, schemaLimits));
  } catch {
    return [];
  }
  if (!isJsonObject(input) || listed.name === "" || listed.name.length > 200) return [];
  return [
    {
      name: listed.name,
      description: (listed.description ?? "").slice(0, maxDescription).toWellFormed(),
      input: { ...input, type: "object" },
      repeatable: annotations?.readOnlyHint === true || annotations?.idempotentHint === true,
    },
  ];
}

/** A JSON-RPC error is an answer of the server, so the call has ended. So has one whose answer is too long. */
function answeredError(error: unknown): string | undefined {
  if (error instanceof AnswerTooLong) return error.message;
  const { code, message } = error as { readonly code?: unknown; readonly message?: string };
  if (typeof code !== "number") return undefined;
  return `The server reports an error: ${message ?? code}`;
}

function textOf(result: unknown): string {
  const {
    content = [],
    isError,
    structuredContent,
  } = result as {
    readonly content?: readonly Part[];
    readonly isError?: boolean;
    readonly structuredContent?: unknown;
  };
  const parts = content.map(partText).filter((text) => text !== "");
  if (parts.length === 0 && structuredContent !== undefined) parts.push(JSON.stringify(structuredContent));
  const text = parts.length === 0 ? "[no result]" : parts.join("\n");
  return isError === true ? `The tool reports an error: ${text}` : text;
}

interface Part {
  readonly type: string;
  readonly text?: string;
  readonly data?: string;
  readonly uri?: string;
  readonly mimeType?: string;
  readonly resource?: { readonly uri?: string; readonly text?: string; readonly blob?: string };
}

function partText({ type, text, data, uri, mimeType, resource }: Part): string {
  if (type === "text") return text ?? "";
  if (type === "resource") {
    const { uri: of = "", text: body, blob } = resource ?? {};
    return body ?? `[${of}: binary data, ${blob?.length ?? 0} characters of base64]`;
  }
  if (type === "resource_link") return `[resource ${uri ?? ""}]`;
  return `[${type}${mimeType === undefined ? "" : ` ${mimeType}`}: ${data?.length ?? 0} characters of base64]`;
}
