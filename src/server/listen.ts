import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { InputInvalid } from "../domain/errors.ts";
import type { App } from "./routes/route.ts";

/** Bytes for the headers of a request; the token and a cookie need a fraction of it. */
const mostHeaderBytes = 16 * 1024;
const headersWithinMs = 10_000;
const requestWithinMs = 60_000;
const idleMs = 10_000;
const mostConnections = 2_000;

export interface Listening {
  readonly host: string;
  readonly port: number;
  /** Accepts no new connections and ends idle ones. */
  refuseNew(): void;
  /** Ends every connection. */
  close(): Promise<void>;
}

export async function listen(
  app: App,
  address: { readonly host: string; readonly port: number },
): Promise<Listening> {
  // Replacing the global Request and Response would reach into every model call of this process.
  const answer = getRequestListener((request, env) => app.fetch(request, env), {
    overrideGlobalObjects: false,
    errorHandler: () => new Response(null, { status: 400 }),
  });
  const server = createServer(
    {
      maxHeaderSize: mostHeaderBytes,
      headersTimeout: headersWithinMs,
      requestTimeout: requestWithinMs,
      keepAliveTimeout: idleMs,
    },
    (request, response) => void answer(request, response),
  );
  server.maxConnections = mostConnections;
  // A client that does not speak HTTP gets a short answer, never a stack.
  server.on("clientError", (_error, socket) => {
    if (socket.writable) socket.end("HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n");
    else socket.destroy();
  });
  const port = await bind(server, address);
  return {
    host: address.host,
    port,
    refuseNew: () => {
      server.close();
      server.closeIdleConnections();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const wrongHost: readonly string[] = ["ENOTFOUND", "EAI_AGAIN", "EADDRNOTAVAIL"];

function bind(server: Server, { host, port }: { host: string; port: number }): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const { code } = error;
      const why = code === "EADDRINUSE" ? "another program uses it" : (code ?? error.message);
      const advice =
        code !== undefined && wrongHost.includes(code)
          ? "Choose an address of this machine with --host, for instance 127.0.0.1."
          : "Choose another port with --port (0 takes a free one), or stop the other server.";
      reject(
        new InputInvalid(`The server cannot listen on ${host} port ${port}: ${why}.`, {
          cause: error,
          advice,
        }),
      );
    });
    server.listen({ host, port }, () => resolve((server.address() as AddressInfo).port));
  });
}
