import {
  createServer,
  type Server as HttpServer,
  type IncomingMessage,
  type RequestListener,
  type ServerOptions,
} from "node:http";
import { createServer as createTlsServer, type Server as TlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { InputInvalid } from "../domain/errors.ts";
import { newId } from "../domain/ids.ts";
import type { TlsFiles } from "./access/tls-files.ts";
import { type Caller, Connections } from "./connections.ts";
import { HttpProblem, problemOf, problemResponse } from "./problem.ts";
import type { App } from "./routes/route.ts";

/** Limits for connections with an accepted token. Strangers have less time: see connections.ts. */
const limits: ServerOptions = {
  /** Header bytes of a request. The token and a cookie need a fraction of this. */
  maxHeaderSize: 16 * 1024,
  headersTimeout: 10_000,
  /** Time for an archive. Other bodies have less: see json-body.ts. */
  requestTimeout: 15 * 60_000,
  keepAliveTimeout: 10_000,
  /** How often Node checks the limits above; its default is 30 seconds. */
  connectionsCheckingInterval: 1_000,
  /** The app itself answers a request without a Host header, with a problem. */
  requireHostHeader: false,
};
/** A peer that reads nothing for this long is gone. Event streams send something every 15 seconds. */
const silentMs = 120_000;
const requestsPerConnection = 1_000;
const handshakeTimeoutMs = 10_000;

export interface Listening {
  readonly host: string;
  readonly port: number;
  /** Accepts no new connections and ends idle ones. */
  refuseNew(): void;
  /** Ends every connection. */
  close(): Promise<void>;
}

type Server = HttpServer | TlsServer;

export async function listen(
  app: App,
  address: { readonly host: string; readonly port: number },
  tls?: TlsFiles,
): Promise<Listening> {
  const connections = new Connections();
  const callers = new WeakMap<IncomingMessage, Caller>();
  // Replacing the global Request and Response would affect every model call of this process.
  const answer = getRequestListener(
    (request, env) => {
      const { incoming, outgoing } = env as HttpBindings;
      return app.fetch(request, { incoming, outgoing, caller: callers.get(incoming) });
    },
    {
      overrideGlobalObjects: false,
      errorHandler: () => problemResponse(problemOf(unreadable(), newId())),
    },
  );
  const onRequest: RequestListener = (request, response) => {
    const caller = connections.callerOf(request.socket, response);
    if (caller === undefined) return;
    callers.set(request, caller);
    void answer(request, response);
  };
  const server: Server =
    tls === undefined
      ? createServer(limits, onRequest)
      : createTlsServer({ ...limits, ...tls, handshakeTimeout: handshakeTimeoutMs }, onRequest);
  server.timeout = silentMs;
  server.maxRequestsPerSocket = requestsPerConnection;
  // Added before the TLS handshake, which a stranger may never finish.
  server.on("connection", (socket) => connections.add(socket));
  // The body is requested only after the token was accepted.
  server.on("checkContinue", onRequest);
  server.on("clientError", answerUnreadable);
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

const unreadable = (): HttpProblem =>
  new HttpProblem("REQUEST_UNREADABLE", "This is not a valid HTTP request.");

const clientProblems: Readonly<Record<string, HttpProblem>> = {
  ERR_HTTP_REQUEST_TIMEOUT: new HttpProblem("REQUEST_TIMEOUT", "The request took too long to arrive."),
  HPE_HEADER_OVERFLOW: new HttpProblem(
    "HEADERS_TOO_LARGE",
    `The headers have more than ${limits.maxHeaderSize} bytes.`,
  ),
};

/**
 * A client that violates HTTP gets a short answer, never a stack. The connection is closed, because the client may
 * keep its side open.
 */
function answerUnreadable(error: NodeJS.ErrnoException, socket: Duplex & { destroySoon?(): void }): void {
  if (!socket.writable || error.code === "ECONNRESET") return void socket.destroy();
  const problem = problemOf(clientProblems[error.code ?? ""] ?? unreadable(), newId());
  const body = JSON.stringify(problem);
  const head = [
    `HTTP/1.1 ${problem.status} ${problem.title}`,
    "content-type: application/problem+json",
    `content-length: ${Buffer.byteLength(body)}`,
    "connection: close",
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n${body}`);
  if (socket.destroySoon === undefined) socket.destroy();
  else socket.destroySoon();
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
