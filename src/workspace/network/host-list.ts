import { BlockList, isIP } from "node:net";

/**
 * Where a confined program may connect: `true` for every public host, or a list of hosts such as `registry.npmjs.org`,
 * `*.example.com` (not example.com itself), `127.0.0.1:4873` or `[::1]:8080`. Without a port, every port.
 */
export type NetworkReach = true | readonly string[];

interface ListedHost {
  /** In lower case; `*.` at the beginning stands for any names before the rest. */
  readonly host: string;
  readonly port: number | undefined;
}

/** Undefined when the text is no host. */
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

export function isListed(reach: NetworkReach, host: string, port: number): boolean {
  if (reach === true) return true;
  const asked = plainHost(host);
  return reach.some((text) => {
    const listed = parseHost(text);
    if (listed === undefined || (listed.port !== undefined && listed.port !== port)) return false;
    return listed.host.startsWith("*.") ? asked.endsWith(listed.host.slice(1)) : asked === listed.host;
  });
}

/**
 * Whether a connection for this host may use this address. The owner of a public name can point it at this machine or at
 * its network, so such an address counts only where the list names the address itself, or `localhost`.
 */
export function mayConnect(reach: NetworkReach, host: string, port: number, address: string): boolean {
  if (!isPrivate(address)) return true;
  if (reach === true) return false;
  return plainHost(host) === "localhost"
    ? isLoopback(address) && isListed(reach, "localhost", port)
    : isListed(reach, address, port);
}

/** Whether a list reaches this machine or its network, which needs a person's trust. */
export const reachesPrivate = (reach: NetworkReach): boolean =>
  reach !== true &&
  reach.some((text) => {
    const { host = "" } = parseHost(text) ?? {};
    return host === "localhost" || (isIP(host) !== 0 && isPrivate(host));
  });

const plainHost = (host: string): string =>
  host
    .toLowerCase()
    .replace(/^\[|\]$/g, "")
    .replace(/\.$/, "");

const isLoopback = (address: string): boolean => address === "::1" || address.startsWith("127.");

const ranges4 =
  "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.168.0.0/16 198.18.0.0/15 224.0.0.0/3";
const private4 = subnets("ipv4", ranges4);
/** Only 2000::/3 is public. Tunnels can carry an address of the machine's own network. */
const private6 = subnets("ipv6", "::/3 4000::/2 8000::/1 2001::/32 2002::/16");

/** This machine, its network and its cloud's metadata: what a program must not reach by the name of a public host. */
function isPrivate(address: string): boolean {
  const version = isIP(address);
  if (version === 4) return private4.check(address, "ipv4");
  return version === 0 || private6.check(address, "ipv6");
}

function subnets(version: "ipv4" | "ipv6", ranges: string): BlockList {
  const list = new BlockList();
  for (const range of ranges.split(" ")) {
    const [address = "", bits] = range.split("/");
    list.addSubnet(address, Number(bits), version);
  }
  return list;
}
