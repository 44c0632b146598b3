import { lookup } from "node:dns/promises";
import { chmod } from "node:fs/promises";
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import { connect, isIP, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { isListed, mayConnect, type NetworkReach } from "./host-list.ts";

export interface ProxyOptions {
  readonly reach: NetworkReach;
  /** Hosts that a person configured, such as a private registry. They may be at any address. */
  readonly own?: readonly string[] | undefined;
  /** A Unix socket that does not exist yet, to be bound into a sandbox without a network. */
  readonly socket: string;
  readonly resolve?: ((host: string) => Promise<readonly string[]>) | undefined;
}

/**
 * The only way out of a sandbox without a network: an HTTP proxy (CONNECT and plain requests) on a Unix socket. It
 * checks each connection: the host must be listed, and it connects only to the address that it has checked. A
 * redirect is a new request, so it is checked too.
 */
export class NetworkProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #reach: NetworkReach;
  readonly #own: readonly string[];
  readonly #resolve: (host: string) => Promise<readonly string[]>;
  readonly #open = new Set<Duplex>();
  readonly #refused = new Set<string>();

  private constructor({ reach, own = [], resolve = resolveAll }: ProxyOptions) {
    this.#reach = reach;
    this.#own = own;
    this.#resolve = resolve;
    this.#server = createServer((asked, answer) => void this.#forward(asked, answer));
    this.#server.on("connect", (asked, client, head) => void this.#tunnel(asked, client, head));
    this.#server.on("connection", (socket) => this.#track(socket));
  }

  static async listen(options: ProxyOptions): Promise<NetworkProxy> {
    const proxy = new NetworkProxy(options);
    await new Promise<void>((resolve, reject) => {
      proxy.#server.once("error", reject).listen(options.socket, resolve);
    });
    // The program may be another user. The socket's folder keeps other programs away.
    await chmod(options.socket, 0o666);
    return proxy;
  }

  /** Each refused host with the reason, as a sentence. */
  get refused(): readonly string[] {
    return [...this.#refused];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#open) socket.destroy();
    await closed;
  }

  async #tunnel(asked: IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
    client.on("error", () => client.destroy());
    const { hostname, port } = addressOf(`http://${asked.url ?? ""}`) ?? {};
    const found =
      hostname === undefined ? "400 Bad Request" : await this.#admit(hostname, Number(port || 80));
    if (typeof found === "string") return void client.end(`HTTP/1.1 ${found}\r\n\r\n`);
    const server = connect(found.port, found.address);
    this.#track(server);
    server.once("error", () => client.destroy());
    server.once("connect", () => {
      client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      server.write(head);
      server.pipe(client);
      client.pipe(server);
    });
    server.once("close", () => client.destroy());
    client.once("close", () => server.destroy());
  }

  async #forward(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    const url = addressOf(asked.url ?? "");
    const found =
      url?.protocol === "http:" ? await this.#admit(url.hostname, Number(url.port || 80)) : "400 Bad Request";
    if (url === undefined || typeof found === "string") {
      const [status = "400", ...text] = typeof found === "string" ? found.split(" ") : [];
      const why = text.join(" ");
      // Many programs show the body alone.
      answer.writeHead(Number(status), why, { "content-type": "text/plain" }).end(`${why}\n`);
      return;
    }
    const { "proxy-connection": _, "proxy-authorization": __, ...sent } = asked.headers;
    // A server of many hosts goes by this header: it is that of the checked address, whatever the program sent.
    const headers = { ...sent, host: url.host };
    const passed = request(
      {
        host: found.address,
        port: found.port,
        method: asked.method,
        path: url.pathname + url.search,
        headers,
      },
      (response) => {
        answer.writeHead(response.statusCode ?? 502, response.headers);
        response.pipe(answer);
      },
    );
    passed.once("socket", (socket) => this.#track(socket));
    passed.once("error", () => (answer.headersSent ? answer.destroy() : answer.writeHead(502).end()));
    asked.pipe(passed);
  }

  /** The address to connect to, or the status line of the refusal. */
  async #admit(host: string, port: number): Promise<{ address: string; port: number } | string> {
    const name = host.replace(/^\[|\]$/g, "");
    const isOwn = isListed(this.#own, name, port);
    if (!isOwn && !isListed(this.#reach, name, port))
      return this.#refuse(`${name}:${port} is not in the list of hosts`);
    const addresses = isIP(name) === 0 ? await this.#resolve(name).catch(() => []) : [name];
    if (addresses.length === 0) return `502 ${name} has no address`;
    const address = addresses.find((each) => isOwn || mayConnect(this.#reach, name, port, each));
    if (address !== undefined) return { address, port };
    return this.#refuse(`${name}:${port} is an address of this machine or its network`);
  }

  #refuse(why: string): string {
    // A program that asks endlessly must not fill the memory.
    if (this.#refused.size < mostRefused) this.#refused.add(why);
    return `403 Maestro refused: ${why}`;
  }

  #track(socket: Socket | Duplex): void {
    this.#open.add(socket);
    socket.once("close", () => this.#open.delete(socket));
  }
}

const mostRefused = 100;

const addressOf = (text: string): URL | undefined => URL.parse(text) ?? undefined;

async function resolveAll(host: string): Promise<readonly string[]> {
  const found = await lookup(host, { all: true });
  return found.map(({ address }) => address);
}
