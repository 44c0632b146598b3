import type { Context, MiddlewareHandler } from "hono";
import { HttpProblem } from "../problem.ts";
import type { AppEnv } from "../routes/route.ts";
import type { ServerParts } from "../server-parts.ts";
import { type AskedFrom, refusalOf } from "./host-check.ts";

type GateParts = Pick<ServerParts, "hosts" | "people" | "wrongTokens">;

/** Checks host and origin before anything else reads the request. */
export function checkOrigin({ hosts }: Pick<GateParts, "hosts">): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    const refusal = refusalOf(askedFrom(c), hosts());
    if (refusal === "host")
      throw new HttpProblem(
        "HOST_NOT_ALLOWED",
        "The server does not answer under this name.",
        "Use its own address, or start it with --public-url and the address that people use.",
      );
    if (refusal === "origin")
      throw new HttpProblem("ORIGIN_NOT_ALLOWED", "Pages of other origins may not use this server.");
    await next();
  };
}

function askedFrom(c: Context<AppEnv>): AskedFrom {
  const header = (name: string) => c.req.header(name);
  return {
    method: c.req.method,
    urlHost: new URL(c.req.url).host,
    hosts: hostsOf(c),
    origin: header("origin"),
    // Any page may open the dashboard link: its code is secret and works once.
    fetchSite: c.req.path === "/login" && c.req.method === "GET" ? undefined : header("sec-fetch-site"),
    byCookie: header("cookie") !== undefined && header("authorization") === undefined,
  };
}

/** `origin`: the public address of the server. Behind a proxy with TLS the request itself is plain. */
export function isSecure(c: Context, origin: string): boolean {
  const [asked, known] = [new URL(c.req.url), new URL(origin)];
  return asked.protocol === "https:" || (known.protocol === "https:" && known.host === asked.host);
}

/** Two Host headers are request smuggling; Node keeps only the first. */
function hostsOf(c: Context<AppEnv>): string[] {
  const raw = c.env?.incoming?.rawHeaders;
  if (raw === undefined) return [c.req.header("host")].flatMap((host) => host ?? []);
  return raw.flatMap((value, index) =>
    index % 2 === 1 && raw[index - 1]?.toLowerCase() === "host" ? value : [],
  );
}

/**
 * Requires a token or a browser login. A request with an Authorization header is judged by that alone: another
 * site's page can make a browser send a cookie or a wrong password, but not a token.
 */
export function requireAccess({ people, wrongTokens }: GateParts): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    const authorization = c.req.header("authorization");
    const person = await people.find(authorization, c.req.header("cookie"));
    if (person === undefined) {
      // Only the answer to a wrong token is slow, because others behind the same proxy have the right one.
      if (authorization !== undefined) {
        wrongTokens.wasWrong(c.env?.caller?.address);
        await wrongTokens.wait(c.env?.caller?.address);
      }
      throw new HttpProblem(
        "UNAUTHORIZED",
        "This needs the server's token, or a token of your own.",
        "Send it as `Authorization: Bearer <token>` (that of the server is in the file api-token of the state directory). For a browser, `maestro serve --link` prints a link that signs it in.",
      );
    }
    c.set("person", person);
    c.env?.caller?.trust();
    await next();
  };
}
