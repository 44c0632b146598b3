import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";

type Behavior = (socket: Socket, port: number) => void;

const host = (port: number): string => `host: 127.0.0.1:${port}`;

/** Sends one byte after another, for as long as the server takes them. */
function drip(socket: Socket): void {
  const timer = setInterval(() => socket.write("x"), 250);
  socket.once("close", () => clearInterval(timer));
}

/** Tricks of connections without a token to keep their place. */
export const behaviors = {
  "sends nothing": () => undefined,
  "sends half a header": (socket, port) =>
    void socket.write(`GET /v1/sessions HTTP/1.1\r\n${host(port)}\r\nx: `),
  "sends a header slowly": (socket, port) => {
    socket.write(`GET /v1/sessions HTTP/1.1\r\n${host(port)}\r\nx: `);
    drip(socket);
  },
  "sends a body slowly": (socket, port) => {
    const head = ["POST /v1/sessions HTTP/1.1", host(port), "content-type: application/json"];
    socket.write(`${[...head, "content-length: 1000000"].join("\r\n")}\r\n\r\n`);
    drip(socket);
  },
  "reads no answer": (socket, port) => {
    socket.pause();
    socket.write(`GET /v1/sessions HTTP/1.1\r\n${host(port)}\r\n\r\n`.repeat(3));
  },
} satisfies Readonly<Record<string, Behavior>>;

export type Kind = keyof typeof behaviors;

interface Stranger {
  readonly kind: Kind;
  readonly socket: Socket;
  /** How long it was connected; undefined while it is. */
  lifeMs: number | undefined;
}

const replaceAfterMs = 1_000;

/** Connections without a token; each one that the server closes is replaced until `stop`. */
export class Strangers {
  readonly #port: number;
  readonly #addresses: readonly string[];
  readonly all: Stranger[] = [];
  #isStopped = false;

  constructor(port: number, addresses: readonly string[]) {
    this.#port = port;
    this.#addresses = addresses;
  }

  async connect(count: number, kinds: readonly Kind[]): Promise<void> {
    await Promise.all(
      Array.from({ length: count }, (_, index) =>
        this.#connectOne(kinds[index % kinds.length] as Kind, index),
      ),
    );
  }

  /** No new ones. Those that are connected stay. */
  stop(): void {
    this.#isStopped = true;
  }

  end(): void {
    this.stop();
    for (const { socket } of this.all) socket.destroy();
  }

  #connectOne(kind: Kind, index: number): Promise<void> {
    return new Promise((resolve) => {
      const localAddress = this.#addresses[index % this.#addresses.length] ?? "127.0.0.1";
      const socket = connect({ port: this.#port, host: "127.0.0.1", localAddress });
      const connectedAtMs = performance.now();
      const stranger: Stranger = { kind, socket, lifeMs: undefined };
      this.all.push(stranger);
      socket.on("error", () => undefined);
      socket.once("connect", () => {
        behaviors[kind](socket, this.#port);
        resolve();
      });
      // A paused socket learns of its end only by reading on.
      socket.on("data", () => undefined);
      if (kind === "reads no answer") socket.pause();
      socket.once("close", () => {
        stranger.lifeMs = performance.now() - connectedAtMs;
        resolve();
        setTimeout(() => {
          if (!this.#isStopped) void this.#connectOne(kind, index);
        }, replaceAfterMs);
      });
    });
  }
}

/** A crowd on a thread of its own, so that it delays the server and not the test. */
export async function startCrowd(
  port: number,
  count: number,
  kinds: readonly Kind[],
  addresses: readonly string[],
): Promise<{ connections(): number; end(): Promise<unknown> }> {
  const connections = new Int32Array(new SharedArrayBuffer(4));
  const crowd: Crowd = { port, count, kinds, addresses, connections };
  const thread = new Worker(new URL(import.meta.url), { workerData: crowd });
  await once(thread, "message");
  return { connections: () => Atomics.load(connections, 0), end: () => thread.terminate() };
}

interface Crowd {
  readonly port: number;
  readonly count: number;
  readonly kinds: readonly Kind[];
  readonly addresses: readonly string[];
  /** How many there were. */
  readonly connections: Int32Array;
}

if (!isMainThread && (workerData as Partial<Crowd> | null)?.connections !== undefined) {
  const { port, count, kinds, addresses, connections } = workerData as Crowd;
  const strangers = new Strangers(port, addresses);
  setInterval(() => Atomics.store(connections, 0, strangers.all.length), 50);
  await strangers.connect(count, kinds);
  parentPort?.postMessage("connected");
}
