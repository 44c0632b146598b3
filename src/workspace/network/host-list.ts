import { isIP } from "node:net";
import { isInternal, isLoopback } from "../../network/internal-address.ts";

/**
 * Hosts that a confined program may connect to: `true` for every public host, or a list such as
 * `registry.npmjs.org`, `*.example.com` (without example.com itself), `127.0.0.1:4873` or `[::1]:8080`. Without a
 * port, every port.
 */
export type NetworkReach = true | readonly string[];

interface ListedHost {
  /** In lower case. A leading `*.` stands for any names before the rest. */
  readonly host: string;
  readonly port: number | undefined;
}

/** Undefined if the text is no host. */
export function parseHost(text: string): ListedHost | undefined {
  const found = /^(?:\[([\da-fA-F:.]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(text);
  const host = (found?.[1] ?? found?.[2] ?? "").toLowerCase().replace(/\.$/, "");
  const port = found?.[3] === undefined ? undefined : Number(found[3]);
  if (port !== undefined && (port < 1 || port > 65_535)) return undefined;
  if (found?.[1] !== undefined) return isIP(host) === 6 ? { host, port } : undefined;
  return isIP(host) === 4 || hostName.test(host) ? { host, port } : undefined;
}

const hostName =
  /^(?=.{1,253}$)(?:\*\.)?(?:[a-z\d_](?:[a-z\d_-]{0,61}[a-z\d_])?\.)*[a-z\d_](?:[a-z\d_-]{0,61}[a-z\d_])?$/;

export const portOf = (url: URL): number => Number(url.port) || (url.protocol === "https:" ? 443 : 80);

export const isListed = (reach: NetworkReach, host: string, port: number): boolean =>
  reach === true || listedAs(reach, host, port) !== undefined;

/** The list entry that allows a host. */
export function listedAs(hosts: readonly string[], host: string, port: number): string | undefined {
  const asked = plainHost(host);
  return hosts.find((text) => {
    const listed = parseHost(text);
    if (listed === undefined || (listed.port !== undefined && listed.port !== port)) return false;
    if (!listed.host.startsWith("*.")) return asked === listed.host;
    // "*.0.0.1" matches names, never an address.
    return isIP(asked) === 0 && asked.endsWith(listed.host.slice(1));
  });
}

/**
 * Whether a connection to this host may use this address. The owner of a public name can point it at this machine
 * or its network, so such an address is allowed only if the list names the address itself, or `localhost`.
 */
export function mayConnect(reach: NetworkReach, host: string, port: number, address: string): boolean {
  if (!isInternal(address)) return true;
  if (reach === true) return false;
  return plainHost(host) === "localhost"
    ? isLoopback(address) && isListed(reach, "localhost", port)
    : isListed(reach, address, port);
}

const plainHost = (host: string): string =>
  host
    .toLowerCase()
    .replace(/^\[|\]$/g, "")
    .replace(/\.$/, "");
