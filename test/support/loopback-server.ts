import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** How one request is handled. "after" and "cut": the server has acted, and the caller cannot know it. */
export type Behavior =
  | "answer"
  | "slow"
  | "rate-limit"
  | "server-error"
  | "gateway-error-after"
  | "cut-answer"
  | "cut-refusal"
  | "drop-after"
  | "drop-before"
  | "redirect"
  | "huge";

export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}

const failed = { errorMessages: ["Internal server error"], errors: {} };
const tooMany = { errorMessages: ["Rate limit exceeded."], errors: {} };

/** May be changed at any time. */
export interface Switches {
  /** The handling of the next requests to a path, in order; later ones are answered. */
  script: Record<string, Behavior[]>;
  /** Repeats a script from its start. */
  repeat: boolean;
  slowMs: number;
  retryAfter: string;
  redirectTo: string;
}

export const newSwitches = (): Switches => ({
  script: {},
  repeat: false,
  slowMs: 60_000,
  retryAfter: "7",
  redirectTo: "http://127.0.0.1:9/elsewhere",
});

/** Observes requests: each waits until `arrived` has settled, and is answered or cut after that. */
export interface Witness {
  arrived?: (exchange: Exchange) => Promise<void> | void;
  /** The whole answer is sent; its reader may be dead. */
  answered?: (exchange: Exchange) => void;
}

/** A real server on a free loopback port, controlled by its switches. */
export class LoopbackServer {
  readonly requests: Exchange[] = [];
  readonly switches: Switches;
  witness: Witness = {};
  readonly #server: Server;
  readonly #handle: (exchange: Exchange) => Answer;
  readonly #underWay = new Set<Promise<void>>();

  constructor(handle: (exchange: Exchange) => Answer, switches: Switches = newSwitches()) {
    this.#handle = handle;
    this.switches = switches;
    this.#server = createServer((request, response) => {
      const serving = this.#serve(request, response).finally(() => this.#underWay.delete(serving));
      this.#underWay.add(serving);
    });
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return this;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Every request that arrived is handled, also if its sender is dead. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const exchange = await read(request).catch(() => undefined);
    if (exchange === undefined) return void response.destroy();
    if (!exchange.path.startsWith("/loopback/")) this.requests.push(exchange);
    const { switches, witness } = this;
    response.once("finish", () => witness.answered?.(exchange));
    await witness.arrived?.(exchange);
    const script = switches.script[exchange.path] ?? [];
    const behavior = script.shift() ?? "answer";
    if (switches.repeat && exchange.path in switches.script) script.push(behavior);
    switch (behavior) {
      case "answer":
        return send(response, this.#handle(exchange));
      case "slow": {
        const answer = this.#handle(exchange);
        return void setTimeout(() => send(response, answer), switches.slowMs).unref();
      }
      case "rate-limit":
        return send(response, {
          status: 429,
          headers: { "retry-after": switches.retryAfter },
          body: tooMany,
        });
      case "server-error":
        return send(response, { status: 500, body: failed });
      case "gateway-error-after":
        this.#handle(exchange);
        return send(response, { status: 502, body: "<html>Bad Gateway</html>" });
      case "cut-answer":
        return cutShort(response, this.#handle(exchange));
      case "cut-refusal":
        return cutShort(response, { status: 400, body: failed });
      case "drop-after":
        this.#handle(exchange);
        return void response.destroy();
      case "drop-before":
        return void response.destroy();
      case "redirect":
        return send(response, { status: 307, headers: { location: switches.redirectTo }, body: "" });
      case "huge":
        return send(response, { ...this.#handle(exchange), body: { padding: "x".repeat(2 * 1024 * 1024) } });
    }
  }
}

async function read(request: IncomingMessage): Promise<Exchange> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://loopback");
  return {
    method: request.method ?? "",
    path: pathname,
    query: Object.fromEntries(searchParams),
    headers: request.headers,
    body: Buffer.concat(chunks).toString(),
  };
}

const textOf = ({ body }: Answer): string => (typeof body === "string" ? body : JSON.stringify(body));

function send(response: ServerResponse, answer: Answer): void {
  response.writeHead(answer.status, { "content-type": "application/json;charset=UTF-8", ...answer.headers });
  response.end(textOf(answer));
}

/** Half of the answer, then the end of the connection. */
function cutShort(response: ServerResponse, answer: Answer): void {
  const text = textOf(answer);
  response.writeHead(answer.status, { "content-type": "application/json", "content-length": text.length });
  response.write(text.slice(0, text.length / 2), () => response.destroy());
}
