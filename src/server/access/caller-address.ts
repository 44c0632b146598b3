/**
 * The name under which a caller's connections are counted. One machine may have a whole /64 of IPv6 addresses, so
 * they count as one.
 */
export function callerAddress(remoteAddress: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(remoteAddress)?.[1];
  if (mapped !== undefined) return mapped;
  if (!remoteAddress.includes(":")) return remoteAddress;
  const [head = "", tail] = (remoteAddress.split("%")[0] ?? "").split("::");
  const [left, right] = [head, tail ?? ""].map((part) => (part === "" ? [] : part.split(":")));
  const known = [...(left ?? []), ...(right ?? [])];
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - known.length }, () => "0");
  return [...(left ?? []), ...zeros, ...(right ?? [])].slice(0, 4).join(":");
}
