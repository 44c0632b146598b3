import { InputInvalid } from "../../domain/errors.ts";

const loopbackNames = ["127.0.0.1", "localhost", "[::1]"];
const everyAddress = new Set(["0.0.0.0", "::", "[::]"]);
const nameForm = /^(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/;

/** The names, with their port, under which this server may be asked: any other one is somebody's trick with DNS. */
export function allowedHosts(
  listen: { readonly host: string; readonly port: number },
  also: string | undefined,
): ReadonlySet<string> {
  const { port } = listen;
  const host = listen.host.toLowerCase();
  const own = host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
  const names = [...loopbackNames, ...(everyAddress.has(host) ? [] : [own])];
  const hosts = new Set(names.flatMap((name) => withPort(name, port)));
  for (const text of (also ?? "").split(",")) {
    const name = text.trim().toLowerCase();
    if (name === "") continue;
    if (!nameForm.test(name))
      throw new InputInvalid(`"${text.trim().slice(0, 100)}" is not the name of a host.`, {
        advice: "server.allowedHosts takes names such as maestro.example.org or maestro.example.org:8443.",
      });
    // Behind a proxy the port people see may be another one: without a port, a name stands for its usual ports too.
    if (/:\d+$/.test(name)) hosts.add(name);
    else for (const each of [...withPort(name, port), name]) hosts.add(each);
  }
  return hosts;
}

/** Browsers leave the usual port out. */
function withPort(name: string, port: number): string[] {
  return port === 80 ? [name, `${name}:80`] : [`${name}:${port}`];
}

export interface AskedFrom {
  readonly method: string;
  /** As in the request's address. */
  readonly urlHost: string;
  /** Every Host header there is. */
  readonly hosts: readonly string[];
  readonly origin: string | undefined;
  readonly fetchSite: string | undefined;
  /** A browser's cookie is what it would be let in by. */
  readonly byCookie: boolean;
}

export type Refusal = "host" | "origin";

/** Whether the request may be answered at all, from where it comes and under which name it asks. */
export function refusalOf(asked: AskedFrom, allowed: ReadonlySet<string>): Refusal | undefined {
  const { hosts, urlHost, origin, fetchSite, method, byCookie } = asked;
  if (hosts.length > 1) return "host";
  if (![urlHost, ...hosts].every((host) => allowed.has(host.toLowerCase()))) return "host";
  if (origin !== undefined && !isOwn(origin, allowed)) return "origin";
  // Pages on other ports of this machine are "same-site": they must not use the cookie either.
  if (fetchSite !== undefined && fetchSite !== "same-origin" && fetchSite !== "none") return "origin";
  const changes = method !== "GET" && method !== "HEAD";
  // Every browser says where a request that changes something comes from; one that does not is not trusted with a cookie.
  if (changes && byCookie && origin === undefined && fetchSite !== "same-origin") return "origin";
  return undefined;
}

function isOwn(origin: string, allowed: ReadonlySet<string>): boolean {
  const host = /^https?:\/\/([^/@\s]+)$/.exec(origin)?.[1];
  return host !== undefined && allowed.has(host.toLowerCase());
}
