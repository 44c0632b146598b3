/** The host part of an address. A server on all interfaces is reached by the loopback name. */
export function addressOf({ host, port }: { readonly host: string; readonly port: number }): string {
  const name = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `${name.includes(":") ? `[${name}]` : name}:${port}`;
}
