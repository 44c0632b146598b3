import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** A loopback service that refuses connections until it is started. */
export class Catalog {
  readonly url: string;
  asked = 0;
  readonly #port: number;
  #server: Server | undefined;

  private constructor(port: number) {
    this.#port = port;
    this.url = `http://127.0.0.1:${port}/parts`;
  }

  static async down(): Promise<Catalog> {
    const server = createServer();
    const port = await listen(server, 0);
    await close(server);
    return new Catalog(port);
  }

  async comeUp(): Promise<void> {
    this.#server = createServer((_, response) => {
      this.asked += 1;
      response.end("towers, cables, deck");
    });
    await listen(this.#server, this.#port);
  }

  async goDown(): Promise<void> {
    if (this.#server !== undefined) await close(this.#server);
    this.#server = undefined;
  }
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
}

function close(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
