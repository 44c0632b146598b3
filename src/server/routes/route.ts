import type { HttpBindings } from "@hono/node-server";
import type { OpenAPIHono, RouteConfig, RouteHandler, z } from "@hono/zod-openapi";
import type { MiddlewareHandler } from "hono";
import { mayAct, type Role } from "../../api/people.ts";
import type { Person } from "../access/person.ts";
import type { Caller } from "../connections.ts";
import { HttpProblem } from "../problem.ts";
import { problem } from "../schemas/actions.ts";

export type AppEnv = {
  /** `operation`: the route that was found. */
  Variables: { requestId: string; person: Person; operation: Operation | undefined };
  /** Missing when the app is called in memory. */
  Bindings: Partial<HttpBindings & { readonly caller: Caller }>;
};

export type App = OpenAPIHono<AppEnv>;

type Handle<Route extends RouteConfig> = (
  context: Parameters<RouteHandler<Route, AppEnv>>[0],
) => Response | Promise<Response>;

export interface Operation {
  readonly id: string;
  readonly role: Role;
}

/** `role`: the least that may use it. Tests check the answers against the schema. The type does not. */
export function addRoute<Route extends RouteConfig>(
  app: App,
  role: Role | "everyone",
  route: Route,
  handle: Handle<Route>,
): void {
  const checks = role === "everyone" ? [] : [needsRole({ id: route.operationId ?? route.path, role })];
  // Runs before the framework reads the request, so that a refusal says nothing about it.
  app.openapi({ ...route, middleware: checks, "x-role": role }, handle);
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

/** Refuses people whose role may not do this. */
function needsRole(operation: Operation): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    c.set("operation", operation);
    const { name, role } = c.get("person");
    if (!mayAct(role, operation.role))
      throw new HttpProblem(
        "ROLE_NOT_ALLOWED",
        `${name} is ${role}; this needs the role ${operation.role}.`,
        "An admin can give you another token: `maestro users add`.",
      );
    await next();
  };
}
