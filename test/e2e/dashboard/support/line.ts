import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** A port of loopback that leads to another one, until it is cut. */
export async function openLine() {
  const sockets = new Set<Socket>();
  let target = 0;
  let isCut = false;
  const listener = createServer((socket) => {
    if (isCut) return void socket.destroy();
    const other = connect(target, "127.0.0.1");
    for (const each of [socket, other]) {
      sockets.add(each);
      each.on("error", () => each.destroy());
      each.once("close", () => {
        sockets.delete(each);
        socket.destroy();
        other.destroy();
      });
    }
    socket.pipe(other).pipe(socket);
  });
  const end = () => {
    for (const socket of sockets) socket.destroy();
  };
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  onTestFinished(async () => {
    end();
    await new Promise((resolve) => listener.close(resolve));
  });
  return {
    port: (listener.address() as AddressInfo).port,
    leadTo: (port: number) => {
      target = port;
    },
    cut: () => {
      isCut = true;
      end();
    },
    mend: () => {
      isCut = false;
    },
  };
}
