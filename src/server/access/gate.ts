import type { Context, MiddlewareHandler } from "hono";
import { HttpProblem } from "../problem.ts";
import type { AppEnv } from "../routes/route.ts";
import type { ServerParts } from "../server-parts.ts";
import { type AskedFrom, refusalOf } from "./host-check.ts";

type GateParts = Pick<ServerParts, "hosts" | "token" | "cookie">;

/** Checks host and origin before anything else reads the request. */
export function checkOrigin({ hosts, token }: GateParts): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    const refusal = refusalOf(askedFrom(c, token), hosts());
    if (refusal === "host")
      throw new HttpProblem(
        "HOST_NOT_ALLOWED",
        "The server does not answer under this name.",
        "Use its own address, or allow the name with server.allowedHosts.",
      );
    if (refusal === "origin")
      throw new HttpProblem("ORIGIN_NOT_ALLOWED", "Pages of other origins may not use this server.");
    await next();
  };
}

function askedFrom(c: Context<AppEnv>, token: GateParts["token"]): AskedFrom {
  const header = (name: string) => c.req.header(name);
  return {
    method: c.req.method,
    urlHost: new URL(c.req.url).host,
    hosts: hostsOf(c),
    origin: header("origin"),
    // The link to the dashboard may be opened from any page: its code is secret and works once.
    fetchSite: c.req.path === "/login" && c.req.method === "GET" ? undefined : header("sec-fetch-site"),
    byCookie: header("cookie") !== undefined && !token.accepts(header("authorization")),
  };
}

export const isSecure = (c: Context): boolean => new URL(c.req.url).protocol === "https:";

/** Two Host headers are request smuggling; Node keeps only the first. */
function hostsOf(c: Context<AppEnv>): string[] {
  const raw = c.env?.incoming?.rawHeaders;
  if (raw === undefined) return [c.req.header("host")].flatMap((host) => host ?? []);
  return raw.flatMap((value, index) =>
    index % 2 === 1 && raw[index - 1]?.toLowerCase() === "host" ? value : [],
  );
}

/** The token, or the cookie that a browser got for a one-time code. */
export function requireAccess({ token, cookie }: GateParts): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    if (token.accepts(c.req.header("authorization"))) return next();
    const cookies = c.req.header("cookie");
    if (!cookie.accepts(cookies))
      throw new HttpProblem(
        "UNAUTHORIZED",
        "This needs the server's token.",
        "Send it as `Authorization: Bearer <token>` (it is in the file api-token of the state directory). For a browser, `maestro serve --link` prints a link that signs it in.",
      );
    await next();
    if (cookie.isOld(cookies)) c.res.headers.append("set-cookie", cookie.issue({ secure: isSecure(c) }));
  };
}
