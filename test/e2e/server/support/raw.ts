import { connect, type Socket } from "node:net";

/** Sends bytes as they are and gives everything that comes back until the other side is silent or gone. */
export function sendRaw(port: number, bytes: string | Buffer, quietMs = 400): Promise<string> {
  return new Promise((resolve) => {
    let received = "";
    const socket = connect(port, "127.0.0.1");
    let quiet = setTimeout(() => socket.destroy(), 30_000);
    socket.on("connect", () => void socket.write(bytes));
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1");
      clearTimeout(quiet);
      quiet = setTimeout(() => socket.destroy(), quietMs);
    });
    socket.on("error", () => undefined);
    socket.on("close", () => {
      clearTimeout(quiet);
      resolve(received);
    });
  });
}

export const statusOf = (answer: string): number => Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0);

/** Asks for a stream and then never reads a byte of it. */
export function stall(port: number, request: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.write(request, () => resolve(socket));
    });
    socket.pause();
    socket.on("error", reject);
  });
}
