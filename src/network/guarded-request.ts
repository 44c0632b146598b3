import { lookup } from "node:dns/promises";
import { type IncomingMessage, Agent as PlainAgent, request as plainRequest } from "node:http";
import { request as encryptedRequest, globalAgent, Agent as TlsAgent } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { isInternal } from "./internal-address.ts";

/** The addresses that a request may reach. */
export interface Reach {
  /** Also allow non-public addresses. */
  readonly allowInternal: boolean;
  /** The user chose an address or `localhost` in the URL, but not the addresses that a name resolves to. */
  readonly trustWritten: boolean;
  /** Resolves a host name to all its addresses. */
  readonly resolve?: ((host: string) => Promise<readonly string[]>) | undefined;
}

export interface GuardedRequest {
  readonly method: "GET" | "POST";
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly signal: AbortSignal;
  readonly reach: Reach;
}

export interface GuardedAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** Reads the whole answer. Fails if it is larger or incomplete. */
  readonly read: (maxBytes: number) => Promise<Uint8Array>;
  /** Discards the rest. */
  readonly drop: () => void;
}

/** The request may not go to this host. Nothing was sent. */
export class AddressRefused extends Error {
  readonly host: string;
  readonly address: string | undefined;

  constructor(host: string, address: string | undefined) {
    super(`${host} is not on the public internet`);
    this.host = host;
    this.address = address;
  }
}

export class AnswerTooLarge extends Error {
  constructor(maxBytes: number) {
    super(`the answer is larger than ${maxBytes} bytes`);
  }
}

/** No answer arrived. `isSent`: the other side may have received the request; true in case of doubt. */
export class NoAnswer extends Error {
  readonly isSent: boolean;

  constructor(cause: unknown, isSent: boolean) {
    super("no answer came", { cause });
    this.isSent = isSent;
  }
}

/**
 * Sends one request and reads the head of its answer. Redirects are not followed. A name is resolved once, and only
 * the checked addresses are connected to, so the owner of the name cannot change it in between. With a proxy that
 * Node is set to use (NODE_USE_ENV_PROXY), the proxy resolves the name instead.
 */
export function guardedRequest(call: GuardedRequest): Promise<GuardedAnswer> {
  const { url, method, body, signal, reach } = call;
  const host = hostOf(url);
  if (isIP(host) !== 0 && !mayReach(reach, host, [host]))
    return Promise.reject(new AddressRefused(host, host));
  const isEncrypted = url.protocol === "https:";
  const headers = { "user-agent": "maestro-hive", "accept-encoding": "identity", ...call.headers };
  // Opens a new connection: a kept one may have been made under other rules or may be dead.
  const agent = new (isEncrypted ? TlsAgent : PlainAgent)(usualProxy());
  return new Promise((resolve, reject) => {
    let isSent = false;
    const request = (isEncrypted ? encryptedRequest : plainRequest)(url, {
      method,
      headers,
      signal,
      agent,
      lookup: guardedLookup(host, reach),
    });
    request.once("socket", (socket) => {
      if (!socket.connecting) isSent = true;
      else socket.once(isEncrypted ? "secureConnect" : "connect", () => (isSent = true));
    });
    request.on("error", (error) =>
      reject(error instanceof AddressRefused ? error : new NoAnswer(error, isSent)),
    );
    request.once("close", () => reject(new NoAnswer(new Error("the connection ended"), isSent)));
    request.once("response", (response) => resolve(answerOf(response)));
    request.end(body);
  });
}

function answerOf(response: IncomingMessage): GuardedAnswer {
  // Aborting the request also aborts an unread answer.
  response.on("error", () => {});
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(response.headersDistinct))
    for (const value of values) headers.append(name, value);
  const drop = (): void => void response.destroy();
  return { status: response.statusCode ?? 0, headers, read: (maxBytes) => readAll(response, maxBytes), drop };
}

async function readAll(response: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop early closes the connection.
  for await (const chunk of response as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new AnswerTooLarge(maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** A resolver that returns only addresses that may be connected to. */
function guardedLookup(host: string, reach: Reach): LookupFunction {
  return (name, options, answer) => {
    resolveFor(host, reach, name).then(
      (addresses) => {
        const found = addresses.map((address) => ({ address, family: isIP(address) }));
        const [first = { address: "", family: 0 }] = found;
        if (options.all === true) answer(null, found);
        else answer(null, first.address, first.family);
      },
      (error: Error) => answer(error, ""),
    );
  };
}

async function resolveFor(host: string, reach: Reach, name: string): Promise<readonly string[]> {
  // Some resolvers do not know the name with its trailing dot.
  const addresses = await (reach.resolve ?? resolveAll)(name === "localhost." ? "localhost" : name);
  if (mayReach(reach, host, addresses)) return addresses;
  throw new AddressRefused(host, addresses.find(isInternal));
}

function mayReach(reach: Reach, host: string, addresses: readonly string[]): boolean {
  if (addresses.length === 0) return false;
  if (reach.allowInternal || (reach.trustWritten && (host === "localhost" || isIP(host) !== 0))) return true;
  return !addresses.some(isInternal);
}

/** The proxy settings that Node read at startup. */
const usualProxy = (): { readonly proxyEnv?: NodeJS.ProcessEnv } => {
  const { proxyEnv } = globalAgent.options as { readonly proxyEnv?: NodeJS.ProcessEnv };
  return proxyEnv === undefined ? {} : { proxyEnv };
};

/** Removes the brackets of IPv6 and the trailing dot. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$|\.$/g, "");

const resolveAll = async (host: string): Promise<readonly string[]> =>
  (await lookup(host, { all: true })).map(({ address }) => address);
