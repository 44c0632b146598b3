import { BlockList, isIP } from "node:net";
import { ConfigInvalid } from "../domain/errors.ts";

/**
 * The address of a tracker as configured. Credentials go there, so it is encrypted unless it stays on this machine,
 * and carries nothing that does not belong to an address.
 */
export function trackerUrl(text: string, what: string, allowPlain = isLoopback): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) throw wrong(`${what} is not a web address`);
  if (url.username !== "" || url.password !== "") throw wrong(`${what} contains a user or a password`);
  if (url.hash !== "") throw wrong(`${what} has a part behind #`);
  if (url.protocol === "http:" && !allowPlain(hostOf(url))) throw wrong(`${what} is not encrypted`);
  return url;
}

/** The base of an API's addresses: always without a slash at its end, never with a query. */
export function trackerBase(text: string, what: string): string {
  const url = trackerUrl(text, what);
  if (url.search !== "") throw wrong(`${what} has a query`);
  return url.href.replace(/\/+$/, "");
}

/** Without the brackets of IPv6 and the final dot of a full name. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$|\.$/g, "");

export const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));

/** Anything that is not the public internet: this machine, its network, its cloud's metadata, what is reserved. */
export function isInternal(address: string): boolean {
  const version = isIP(address);
  if (version === 6) return internal6.check(address, "ipv6");
  return version === 0 || internal4.check(address, "ipv4");
}

const internal4 = subnets(
  "ipv4",
  "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 " +
    "192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3",
);

/** Outside 2000::/3 nothing is public; mapped, translated and tunneled addresses can hide an internal one. */
const internal6 = subnets("ipv6", "::/3 4000::/2 8000::/1 2001::/23 2001:db8::/32 2002::/16 3fff::/20");

/** One list for each version: Node also finds an IPv4 address in the IPv6 ranges that could map it. */
function subnets(version: "ipv4" | "ipv6", ranges: string): BlockList {
  const list = new BlockList();
  for (const range of ranges.split(" ")) {
    const [address = "", bits] = range.split("/");
    list.addSubnet(address, Number(bits), version);
  }
  return list;
}

const wrong = (message: string): ConfigInvalid =>
  new ConfigInvalid(message, { advice: "Give it as https://host/path." });
