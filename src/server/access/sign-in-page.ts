import type { Problem } from "../problem.ts";

/** A browser that opens the address, not a program. */
export function wantsPage({ method, headers }: Request): boolean {
  return method === "GET" && (headers.get("accept") ?? "").includes("text/html");
}

/** Says how to sign in. Nothing on it comes from the request. */
export function signInPage({ detail }: Problem): Response {
  const isUsedLink = detail.includes("link");
  const page = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"><title>Not signed in · Maestro</title><link rel="icon" href="data:,"></head>
<body><h1>Not signed in</h1>
<p>${isUsedLink ? "This link was used already, or is too old." : "This browser is not signed in to Maestro, or no longer."}</p>
<p>On the machine where the server runs, this prints a new link, which works once:</p>
<pre>maestro serve --link</pre>
<p>With <code>--state-dir</code> and <code>--port</code> if the server was started with them.</p></body></html>
`;
  return new Response(page, {
    status: 401,
    headers: { "content-type": "text/html; charset=utf-8", "cache-control": "no-store" },
  });
}
