import { isError, readProperty } from "../../domain/bounded-json.ts";
import { redact, redactedMark } from "../../domain/redact.ts";

const maxLinks = 8;
/** Bodies of errors are read for the reason only. */
const maxBodyLength = 16_000;

/** The keys in use. A very short key would also mask ordinary text. */
const secrets = new Set<string>();
const shortestSecret = 6;

/** From now on this key is in no error, whatever it looks like: a server may repeat it. */
export function hideKey(key: string | undefined): void {
  if (key !== undefined && key.length >= shortestSecret) secrets.add(key);
}

/**
 * An error of a provider, fit to be recorded and shown: without the request (the whole prompt), without keys in its
 * words, and with a body of bounded length. It stays the same object, so that its class still says what it is.
 */
export function cleanError(thrown: unknown): unknown {
  let link = thrown;
  for (let depth = 0; isError(link) && depth < maxLinks; depth += 1) {
    for (const key of ["message", "responseBody", "stack"]) {
      const text = readProperty(link, key);
      if (typeof text === "string") set(link, key, hide(text.slice(0, maxBodyLength)));
    }
    const data = readProperty(link, "data");
    if (data !== undefined) set(link, "data", cleanData(data));
    if (readProperty(link, "requestBodyValues") !== undefined) set(link, "requestBodyValues", {});
    link = readProperty(link, "cause");
  }
  return thrown;
}

function cleanData(data: unknown): unknown {
  try {
    const text = JSON.stringify(data) ?? "";
    return text.length <= maxBodyLength ? JSON.parse(hide(text)) : hide(text.slice(0, maxBodyLength));
  } catch {
    return undefined;
  }
}

const hide = (text: string): string => {
  let kept = text;
  for (const secret of secrets) kept = kept.replaceAll(secret, redactedMark);
  return redact(kept);
};

function set(error: object, key: string, value: unknown): void {
  try {
    Object.defineProperty(error, key, {
      value,
      writable: true,
      configurable: true,
      enumerable: key !== "stack" && key !== "message",
    });
  } catch {
    // Frozen or a proxy: then it cannot be mended, and what it says is redacted again wherever it is shown.
  }
}
