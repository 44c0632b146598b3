import { hashOf, isOver } from "../../api/people.ts";
import { isSecure } from "../access/gate.ts";
import { signedOutPage } from "../access/outside-page.ts";
import type { SignedIn } from "../access/person.ts";
import { HttpProblem } from "../problem.ts";
import type { ServerParts } from "../server-parts.ts";
import type { App } from "./route.ts";

/** The page navigates by itself instead of a redirect: only then does the browser treat it as same-site and send the cookie. */
const page = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Maestro</title><link rel="icon" href="data:,"></head>
<body><p><a href="/">Open the dashboard</a></p></body></html>
`;

/** Exchanges a one-time code for a cookie. The page after a sign-out needs no login either. */
export function addLoginRoutes(
  app: App,
  { codes, logins, maestro, clock, wrongTokens, identity }: ServerParts,
): void {
  /** A link for a colleague signs in once, also after a restart. */
  const redeemLink = async (code: string): Promise<SignedIn | undefined> => {
    const hash = hashOf(code);
    const user = await maestro.access.users.redeem(hash);
    return user === undefined || isOver(user, clock.now())
      ? undefined
      : { name: user.name, role: user.role, user: hash };
  };
  app.get("/signed-out", () => signedOutPage());
  app.get("/login", async (c) => {
    const purpose = c.req.header("sec-purpose") ?? c.req.header("purpose") ?? "";
    // Link previews must not consume the code.
    const isOnlyLooking = c.req.raw.method !== "GET" || /prefetch|preview|prerender/i.test(purpose);
    if (isOnlyLooking) return c.body(null, 204);
    const code = c.req.query("code") ?? "";
    const address = c.env?.caller?.address;
    await wrongTokens.wait(address);
    const person = code.length > 200 ? undefined : (codes.redeem(code) ?? (await redeemLink(code)));
    const cookie = person && (await logins.start(person, { secure: isSecure(c, identity.origin()) }));
    if (cookie === undefined) {
      wrongTokens.wasWrong(address);
      throw new HttpProblem(
        "UNAUTHORIZED",
        "This link was used already, or is too old.",
        "`maestro serve --link` prints a new one.",
      );
    }
    return new Response(page, {
      headers: {
        "content-type": "text/html; charset=utf-8",
        "cache-control": "no-store",
        "set-cookie": cookie,
        refresh: "0; url=/",
      },
    });
  });
}
