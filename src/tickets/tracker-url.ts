import { ConfigInvalid } from "../domain/errors.ts";
import { hostOf } from "../network/guarded-request.ts";
import { isLoopback } from "../network/internal-address.ts";

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

const wrong = (message: string): ConfigInvalid =>
  new ConfigInvalid(message, { advice: "Give it as https://host/path." });
