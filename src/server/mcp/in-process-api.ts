import type { App } from "../routes/route.ts";
import type { Api } from "./tool.ts";

/** Requests to the app itself, with the proof of the caller: each is authorized, noted and logged like any other. */
export function inProcessApi(
  app: Pick<App, "request">,
  origin: string,
  proof: Readonly<Record<string, string>>,
): Api {
  return async ({ method, path, body, accept = "application/json" }) =>
    app.request(`${origin}${path}`, {
      method,
      headers: { ...proof, accept, host: new URL(origin).host, origin, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
}
