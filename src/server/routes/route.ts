import type { HttpBindings } from "@hono/node-server";
import type { OpenAPIHono, RouteConfig, RouteHandler, z } from "@hono/zod-openapi";
import type { BrowserLogin } from "../access/browser-logins.ts";
import type { Caller } from "../connections.ts";
import { problem } from "../schemas/actions.ts";

export type AppEnv = {
  /** `login`: the browser's login; undefined for a request with the token. */
  Variables: { requestId: string; login: BrowserLogin | undefined };
  /** Missing when the app is called in memory. */
  Bindings: Partial<HttpBindings & { readonly caller: Caller }>;
};

export type App = OpenAPIHono<AppEnv>;

type Handle<Route extends RouteConfig> = (
  context: Parameters<RouteHandler<Route, AppEnv>>[0],
) => Response | Promise<Response>;

/** Tests check the answers against the schema. The type does not. */
export function addRoute<Route extends RouteConfig>(app: App, route: Route, handle: Handle<Route>): void {
  app.openapi(route, handle);
}

export const json = <Schema extends z.ZodType>(description: string, schema: Schema) => ({
  description,
  content: { "application/json": { schema } },
});

export const body = <Schema extends z.ZodType>(schema: Schema, { required = true } = {}) => ({
  required,
  content: { "application/json": { schema } },
});

export const problems = {
  default: {
    description: "What went wrong, to what, and what to do.",
    content: { "application/problem+json": { schema: problem } },
  },
};
