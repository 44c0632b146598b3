import type { Context, MiddlewareHandler } from "hono";
import type { AppEnv } from "../routes/route.ts";
import type { ServerParts } from "../server-parts.ts";
import { owner } from "./person.ts";

const longestSubject = 300;

/** Acts carry the name of their person, and those that are more than a look are noted for the audit view. */
export function recordActs({ maestro, clock, report }: ServerParts): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    const person = c.get("person");
    // One token for all is no name.
    await (person.name === owner.name ? next() : maestro.actAs(person.name, next));
    const operation = c.get("operation");
    if (operation === undefined || operation.role === "viewer") return;
    const subject = subjectOf(c);
    await maestro.access.trail
      .add({
        at: clock.now(),
        person: person.name,
        role: person.role,
        operation: operation.id,
        ...(subject !== undefined && { subject: subject.slice(0, longestSubject) }),
        status: c.res.status,
        request: c.get("requestId"),
      })
      .catch((error: unknown) => report(`An act of ${person.name} could not be noted: ${String(error)}`));
  };
}

/** The session, breaker or user in the path, or the session that was made. */
function subjectOf(c: Context<AppEnv>): string | undefined {
  const made = c.res.headers.get("location")?.split("/").at(-1);
  const [, , , name] = c.req.path.split("/");
  return made ?? (name === undefined ? undefined : safelyDecoded(name));
}

function safelyDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
