import { readProperty } from "../../domain/bounded-json.ts";
import type { FailureInput } from "../../domain/failure.ts";

/** The classification of one error; the caller adds message and details. */
export type Verdict = Omit<FailureInput, "message" | "source"> & { readonly message?: string | undefined };

const maxLinks = 24;

/** A thrown value. Reading it is guarded: a getter or a proxy may throw. */
export interface Link {
  readonly name: string;
  readonly message: string;
  /** Node's and the providers' codes; numbers as text. */
  readonly code: string | undefined;
  readonly read: (key: string) => unknown;
  /** The thrown value itself. */
  readonly value: unknown;
}

/** The error, its causes and the errors it gathers, outermost first. A cycle ends the walk. */
export function errorChain(thrown: unknown): Link[] {
  const links: Link[] = [];
  const seen = new Set<unknown>();
  const waiting: unknown[] = [thrown];
  while (waiting.length > 0 && links.length < maxLinks) {
    const value = waiting.shift();
    if (value === undefined && links.length > 0) continue;
    if (seen.has(value)) continue;
    seen.add(value);
    const link = linkOf(value);
    links.push(link);
    const errors = link.read("errors");
    // The last of several tries decides (`RetryError`), so it comes first.
    const gathered = Array.isArray(errors) ? errors.slice(-maxLinks).toReversed() : [];
    waiting.push(link.read("cause"), link.read("lastError"), ...gathered);
  }
  return links;
}

function linkOf(value: unknown): Link {
  if (typeof value !== "object" || value === null) {
    return { name: "", message: String(value), code: undefined, read: () => undefined, value };
  }
  const read = (key: string): unknown => readProperty(value, key);
  const [name, message, code] = [read("name"), read("message"), read("code")];
  return {
    name: typeof name === "string" ? name : "",
    message: typeof message === "string" ? message : typeof name === "string" ? name : "something was thrown",
    code: typeof code === "string" || typeof code === "number" ? String(code) : undefined,
    read,
    value,
  };
}

/** The outer message, with the deciding one unless it is part of it: "fetch failed: connect ECONNREFUSED". */
export function chainMessage(links: readonly Link[], deciding: Link): string {
  const outer = links[0]?.message ?? "";
  if (outer === "") return deciding.message || deciding.name;
  return deciding.message === "" || outer.includes(deciding.message)
    ? outer
    : `${outer}: ${deciding.message}`;
}

/** One line per link; stacks stay out, because machine paths must not reach prompts and journals. */
export function chainDetails(links: readonly Link[]): string | undefined {
  if (links.length < 2) return undefined;
  return links.map(({ name, message }) => `${name || "thrown"}: ${message.slice(0, 1000)}`).join("\n");
}
