import { createRoute, z } from "@hono/zod-openapi";
import { addUser, revokeUser, type User } from "../../api/people.ts";
import { isoTime, isoTimeOrNull } from "../../domain/iso-time.ts";
import { actsView, me, newUser, userAdded, usersView } from "../schemas/people.ts";
import type { ServerParts } from "../server-parts.ts";
import { type App, addRoute, body, json, problems } from "./route.ts";

const meRoute = createRoute({
  method: "get",
  path: "/v1/me",
  operationId: "showMe",
  summary: "The person of this token or login",
  responses: { 200: json("The person.", me), ...problems },
});

const usersRoute = createRoute({
  method: "get",
  path: "/v1/users",
  operationId: "listUsers",
  summary: "People with a token or link of their own",
  responses: { 200: json("The users.", usersView), ...problems },
});

const addUserRoute = createRoute({
  method: "post",
  path: "/v1/users",
  operationId: "addUser",
  summary: "A token, or a link that signs a browser in once; it is shown in this answer only",
  request: { body: body(newUser) },
  responses: { 201: json("The user.", userAdded), ...problems },
});

const revokeRoute = createRoute({
  method: "delete",
  path: "/v1/users/{name}",
  operationId: "revokeUser",
  summary: "End a person's token, link, logins and event streams at once",
  request: { params: z.object({ name: z.string().min(1).max(100) }) },
  responses: { 204: { description: "They have ended." }, ...problems },
});

const auditRoute = createRoute({
  method: "get",
  path: "/v1/audit",
  operationId: "listActs",
  summary: "What people did and what was refused, newest first",
  request: {
    query: z.object({
      person: z.string().max(100).optional(),
      limit: z.coerce.number().int().min(1).max(1_000).default(100),
    }),
  },
  responses: { 200: json("The acts.", actsView), ...problems },
});

/** People who may use the server, and what they did. */
export function addPeopleRoutes(app: App, { maestro, clock, people, identity }: ServerParts): void {
  const { access } = maestro;

  addRoute(app, "viewer", meRoute, (c) => {
    const { name, role } = c.get("person");
    return c.json({ name, role }, 200);
  });

  addRoute(app, "admin", usersRoute, async (c) =>
    c.json({ users: (await access.users.list()).map(userView) }),
  );

  addRoute(app, "admin", addUserRoute, async (c) => {
    const { user, secret } = await addUser(access, c.req.valid("json"), clock.now());
    const url = `${identity.origin()}/login?code=${secret}`;
    const shown = user.kind === "link" ? { token: null, url } : { token: secret, url: null };
    return c.json({ ...userView(user), ...shown }, 201);
  });

  addRoute(app, "admin", revokeRoute, async (c) => {
    await revokeUser(access, c.req.valid("param").name);
    await people.streams.closeEnded();
    return c.body(null, 204);
  });

  addRoute(app, "admin", auditRoute, async (c) => {
    const acts = await access.trail.list(c.req.valid("query"));
    return c.json({
      acts: acts.map(({ at, subject = null, ...act }) => ({ at: isoTime(at), ...act, subject })),
    });
  });
}

const userView = ({ name, role, kind, createdAt, endsAt }: User) => ({
  name,
  role,
  kind,
  createdAt: isoTime(createdAt),
  endsAt: isoTimeOrNull(endsAt),
});
