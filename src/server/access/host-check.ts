import { isEveryAddress } from "./exposure.ts";

const loopbackNames = ["127.0.0.1", "localhost", "[::1]"];

/** The accepted Host headers, with port. Any other name may be DNS rebinding. */
export function allowedHosts(
  listen: { readonly host: string; readonly port: number },
  publicUrl: string | undefined,
): ReadonlySet<string> {
  const { port } = listen;
  const host = listen.host.toLowerCase();
  const own = host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
  const names = [...loopbackNames, ...(isEveryAddress(host) ? [] : [own])];
  const hosts = new Set(names.flatMap((name) => withPort(name, port)));
  if (publicUrl === undefined) return hosts;
  const { host: publicHost, hostname, port: publicPort } = new URL(publicUrl);
  hosts.add(publicHost);
  // Behind a proxy the public port may differ, so a name without a port also matches the port of this server.
  if (publicPort === "") for (const each of withPort(hostname, port)) hosts.add(each);
  return hosts;
}

/** Browsers omit the default port. */
function withPort(name: string, port: number): string[] {
  return port === 80 || port === 443 ? [name, `${name}:${port}`] : [`${name}:${port}`];
}

export interface AskedFrom {
  readonly method: string;
  readonly urlHost: string;
  /** All Host headers of the request. */
  readonly hosts: readonly string[];
  readonly origin: string | undefined;
  readonly fetchSite: string | undefined;
  /** The request has a cookie and no token. */
  readonly byCookie: boolean;
}

export type Refusal = "host" | "origin";

/** Checks the Host, Origin and Sec-Fetch-Site headers. */
export function refusalOf(asked: AskedFrom, allowed: ReadonlySet<string>): Refusal | undefined {
  const { hosts, urlHost, origin, fetchSite, method, byCookie } = asked;
  if (hosts.length > 1) return "host";
  if (![urlHost, ...hosts].every((host) => allowed.has(host.toLowerCase()))) return "host";
  if (origin !== undefined && !isOwn(origin, allowed)) return "origin";
  // Pages on other ports of this machine are "same-site": they must not use the cookie either.
  if (fetchSite !== undefined && fetchSite !== "same-origin" && fetchSite !== "none") return "origin";
  const changes = method !== "GET" && method !== "HEAD";
  // Browsers send an Origin with every request that changes something. Without one, a cookie is not trusted.
  if (changes && byCookie && origin === undefined && fetchSite !== "same-origin") return "origin";
  return undefined;
}

function isOwn(origin: string, allowed: ReadonlySet<string>): boolean {
  const host = /^https?:\/\/([^/@\s]+)$/.exec(origin)?.[1];
  return host !== undefined && allowed.has(host.toLowerCase());
}
