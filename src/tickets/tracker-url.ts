import { ConfigInvalid } from "../domain/errors.ts";
import { hostOf } from "../network/guarded-request.ts";
import { isLoopback } from "../network/internal-address.ts";

/**
 * The configured address of a tracker. Credentials go there, so it must be encrypted unless it is on this machine,
 * and it may contain nothing that does not belong to an address.
 */
export function trackerUrl(text: string, what: string, allowPlain = isLoopback): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) throw wrong(`${what} is not a web address`);
  if (url.username !== "" || url.password !== "") throw wrong(`${what} contains a user or a password`);
  if (url.hash !== "") throw wrong(`${what} has a part behind #`);
  if (url.protocol === "http:" && !allowPlain(hostOf(url))) throw wrong(`${what} is not encrypted`);
  return url;
}

/** The base address of an API, without a trailing slash and without a query. */
export function trackerBase(text: string, what: string): string {
  const url = trackerUrl(text, what);
  if (url.search !== "") throw wrong(`${what} has a query`);
  return url.href.replace(/\/+$/, "");
}

const wrong = (message: string): ConfigInvalid =>
  new ConfigInvalid(message, { advice: "Give it as https://host/path." });
