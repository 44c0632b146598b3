import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { anthropicMessages } from "./loopback-anthropic.ts";
import { googleGenerate } from "./loopback-google.ts";
import type { Dialect, ModelTurn, Refusal } from "./loopback-model-turn.ts";
import { openaiChat } from "./loopback-openai-chat.ts";
import { openaiResponses } from "./loopback-openai-responses.ts";

export const modelKey = "loopback-key-0123456789";

/** A fault instead of an answer. */
export type ModelFault =
  | ({ readonly fault: "refuse"; readonly headers?: Readonly<Record<string, string>> } & Refusal)
  /** The connection ends before the first byte. */
  | { readonly fault: "reset" }
  /** Half of the answer, then the end of the connection. */
  | { readonly fault: "half" }
  /** A stream that ends cleanly in the middle. */
  | { readonly fault: "early-end" }
  | { readonly fault: "garbage" }
  | { readonly fault: "wrong-shape" }
  | { readonly fault: "silence" }
  /** A byte now and then, forever. */
  | { readonly fault: "drip" }
  /** Keep-alive comments forever, and no answer. */
  | { readonly fault: "heartbeat" }
  /** Endless text, as fast as it is read. */
  | { readonly fault: "endless" }
  /** This text, with status 200. */
  | { readonly fault: "say"; readonly body: string; readonly type?: string }
  /** The beginning of an answer, then an error in the stream. */
  | ({ readonly fault: "stream-error" } & Refusal);

export type Reaction = ModelTurn | ModelFault;

export interface ModelRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly body: Record<string, unknown>;
}

const dialects: readonly Dialect[] = [openaiChat, openaiResponses, anthropicMessages, googleGenerate];

/** Speaks the protocols of all providers on one loopback port, and follows its script. */
export class LoopbackModels {
  readonly requests: ModelRequest[] = [];
  /** In order; the last one answers all later calls. */
  script: Reaction[] = [{ text: "hello" }];
  /** Decides instead of the script. */
  react: ((request: ModelRequest) => Reaction) | undefined;
  /** How many calls are in progress. */
  open = 0;
  /** The delay between the pieces of an answer. */
  paceMs = 0;
  readonly #server: Server = createServer((request, response) => void this.#serve(request, response));

  static async start(script?: readonly Reaction[]): Promise<LoopbackModels> {
    const models = new LoopbackModels();
    if (script !== undefined) models.script = [...script];
    await new Promise<void>((resolve) => models.#server.listen(0, "127.0.0.1", resolve));
    return models;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** For each provider, the environment that points here. */
  get env(): Readonly<Record<string, string>> {
    return {
      ANTHROPIC_API_KEY: modelKey,
      ANTHROPIC_BASE_URL: this.url,
      OPENAI_API_KEY: modelKey,
      OPENAI_BASE_URL: `${this.url}/v1`,
      GOOGLE_GENERATIVE_AI_API_KEY: modelKey,
      GOOGLE_GENERATIVE_AI_BASE_URL: `${this.url}/v1beta`,
      OPENAI_COMPATIBLE_API_KEY: modelKey,
      OPENAI_COMPATIBLE_BASE_URL: `${this.url}/v1/`,
    };
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    this.open += 1;
    response.once("close", () => {
      this.open -= 1;
    });
    const request = await read(incoming).catch(() => undefined);
    const dialect = dialects.find(({ path }) => request !== undefined && path.test(request.path));
    if (request === undefined || dialect === undefined) return json(response, 404, { error: "no such path" });
    this.requests.push(request);
    const [name, value] = dialect.keyHeader(modelKey);
    if (request.headers[name] !== value) {
      const given = String(request.headers[name]).replace("Bearer ", "");
      const message = `Incorrect API key provided: ${given}`;
      return json(response, 401, dialect.refusal({ status: 401, code: "invalid_api_key", message }));
    }
    const scripted = this.script.length > 1 ? this.script.shift() : this.script[0];
    react(response, dialect, this.react?.(request) ?? scripted ?? {}, request, this.paceMs);
  }
}

function react(
  response: ServerResponse,
  dialect: Dialect,
  reaction: Reaction,
  request: ModelRequest,
  paceMs: number,
): void {
  const model = typeof request.body["model"] === "string" ? request.body["model"] : "gemini-loopback";
  const streams = dialect.wantsStream(request.path, request.body);
  const sayAll = (turn: ModelTurn): string[] =>
    streams ? [...dialect.stream(turn, model)] : [JSON.stringify(dialect.whole(turn, model))];
  const begin = (): void => {
    response.writeHead(200, { "content-type": streams ? "text/event-stream" : "application/json" });
  };
  if (!("fault" in reaction)) {
    begin();
    if (paceMs > 0) return void sayPiecemeal(response, sayAll(reaction), paceMs);
    return void response.end(sayAll(reaction).join(""));
  }
  const usual = sayAll({ text: "This is a beginning, and what follows is its end." });
  // Up to the end of the text, without the events that end the answer.
  const begun = usual.slice(0, usual.findIndex((piece) => piece.includes("its end.")) + 1).join("");
  switch (reaction.fault) {
    case "refuse":
      return json(response, reaction.status, dialect.refusal(reaction), reaction.headers);
    case "reset":
      return void response.socket?.resetAndDestroy();
    case "silence":
      return;
    case "half": {
      begin();
      const text = usual.join("");
      return void response.write(text.slice(0, text.length / 2), () => response.destroy());
    }
    case "early-end":
      begin();
      return void response.end(streams ? begun : begun.slice(0, -20));
    case "garbage":
      begin();
      return void response.end(streams ? "data: <html>sorry</html>\n\n" : "<html>sorry</html>");
    case "wrong-shape":
      begin();
      return void response.end(streams ? 'data: {"hello":"world"}\n\n' : '{"hello":"world"}');
    case "drip":
      begin();
      return drip(response, usual.join(""));
    case "heartbeat":
      begin();
      return beat(response);
    case "endless":
      begin();
      response.write(begun);
      return flood(response, streams ? dialect.textEvent("x".repeat(16_384)) : " ".repeat(16_384));
    case "say":
      response.writeHead(200, { "content-type": reaction.type ?? "text/event-stream" });
      return void response.end(reaction.body);
    case "stream-error":
      begin();
      return void response.end(begun + dialect.errorEvent(reaction));
  }
}

async function sayPiecemeal(
  response: ServerResponse,
  pieces: readonly string[],
  paceMs: number,
): Promise<void> {
  for (const piece of pieces) {
    await new Promise((resolve) => setTimeout(resolve, paceMs));
    if (response.destroyed) return;
    response.write(piece);
  }
  response.end();
}

/** An answer that never ends. */
function drip(response: ServerResponse, text: string): void {
  let at = 0;
  const timer = setInterval(() => {
    response.write(at < text.length / 2 ? text[at] : "");
    at += 1;
  }, 5).unref();
  response.once("close", () => clearInterval(timer));
}

/** Comments of a stream: the connection stays open without an answer. */
function beat(response: ServerResponse): void {
  const timer = setInterval(() => response.write(": still here\n\n"), 20).unref();
  response.once("close", () => clearInterval(timer));
}

function flood(response: ServerResponse, piece: string): void {
  const more = (): void => {
    while (!response.destroyed && response.write(piece)) continue;
    if (!response.destroyed) response.once("drain", () => setImmediate(more));
  };
  more();
}

async function read(incoming: IncomingMessage): Promise<ModelRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  const { pathname } = new URL(incoming.url ?? "/", "http://loopback");
  return { path: pathname, headers: incoming.headers, text, body: JSON.parse(text) };
}

function json(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}
