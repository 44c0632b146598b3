import { BlockList, isIP } from "node:net";

/**
 * True for any address outside the public internet: this machine, its network, its cloud's metadata, reserved
 * ranges.
 */
export function isInternal(address: string): boolean {
  const version = isIP(address);
  if (version !== 6) return version === 0 || internal4.check(address, "ipv4");
  return (translated.check(address, "ipv6") ? translatedInternal : internal6).check(address, "ipv6");
}

export const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));

const ranges4 =
  "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 " +
  "192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3";

const internal4 = subnets("ipv4", ranges4);

/** Nothing outside 2000::/3 is public. Mapped and tunneled addresses can hide an internal one. */
const internal6 = subnets("ipv6", "::/3 4000::/2 8000::/1 2001::/23 2001:db8::/32 2002::/16 3fff::/20");

/**
 * In IPv6-only networks, NAT64 shows IPv4 hosts under this prefix. Such an address is as public as the IPv4 address
 * in it.
 */
const translated = subnets("ipv6", "64:ff9b::/96");
const translatedInternal = subnets("ipv6", ranges4, (address) => `64:ff9b::${address}`, 96);

/** One list per version, because Node also finds an IPv4 address in the IPv6 ranges that could map it. */
function subnets(
  version: "ipv4" | "ipv6",
  ranges: string,
  written = (address: string): string => address,
  bitsBefore = 0,
): BlockList {
  const list = new BlockList();
  for (const range of ranges.split(" ")) {
    const [address = "", bits] = range.split("/");
    list.addSubnet(written(address), bitsBefore + Number(bits), version);
  }
  return list;
}
