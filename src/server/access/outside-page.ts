import { createHash } from "node:crypto";
import type { Problem } from "../problem.ts";
import { contentSecurityPolicy } from "./security-headers.ts";

/** True for a browser that opens the address, false for a program. */
export function wantsPage({ method, headers }: Request): boolean {
  return method === "GET" && (headers.get("accept") ?? "").includes("text/html");
}

/** The colors of the dashboard. Its own style sheet requires a login. */
const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { margin: 15vh auto 0; padding: 0 1.5rem; max-width: 34rem; color: light-dark(#1c1e21, #e6e8eb); background: light-dark(#ffffff, #16181b); }
h1 { font-size: 1.4rem; line-height: 1.3; }
pre { padding: .75rem 1rem; border-radius: 6px; background: light-dark(#f1f2f4, #23262a); overflow-x: auto; }
`;

const policy = contentSecurityPolicy.replace(
  "style-src 'self'",
  `style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`,
);

/** Explains how to sign in. Contains nothing from the request. */
export function signInPage({ detail }: Problem): Response {
  const isUsedLink = detail.includes("link");
  const why = isUsedLink
    ? "This link was used already, or is too old."
    : "This browser is not signed in to Maestro, or no longer.";
  return pageOf("Not signed in", why, 401);
}

export function signedOutPage(): Response {
  return pageOf("You are signed out", "This browser no longer has access to Maestro.", 200);
}

function pageOf(title: string, why: string, status: number): Response {
  const page = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Maestro</title><link rel="icon" href="data:,"><style>${style}</style></head>
<body><main><h1>${title}</h1>
<p>${why}</p>
<p>To sign in, run this on the machine where the server runs. It prints a new link, which works once:</p>
<pre>maestro serve --link</pre>
<p>Add <code>--state-dir</code> and <code>--port</code> if the server was started with them.</p></main></body></html>
`;
  return new Response(page, {
    status,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-store",
      "content-security-policy": policy,
    },
  });
}
