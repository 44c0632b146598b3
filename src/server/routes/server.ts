import { createRoute, z } from "@hono/zod-openapi";
import { isoTime } from "../../domain/iso-time.ts";
import { usageCsv } from "../../index.ts";
import { isSecure } from "../access/gate.ts";
import { HttpProblem } from "../problem.ts";
import { emptyRequest } from "../schemas/actions.ts";
import {
  breakersView,
  breakerView,
  dashboardLink,
  serverStatus,
  teamsView,
  ticketsView,
  usageReport,
} from "../schemas/server.ts";
import type { ServerParts } from "../server-parts.ts";
import { readStatus } from "../server-status.ts";
import { breakerViews } from "../views/breaker.ts";
import { teamsView as readTeams } from "../views/teams.ts";
import { ticketsView as readTickets } from "../views/tickets.ts";
import { usageReportView } from "../views/usage-report.ts";
import { type App, addRoute, body, json, problems } from "./route.ts";
import { timeParameter } from "./sessions.ts";

const get = <Path extends string>(path: Path, operationId: string, summary: string) =>
  ({ method: "get", path, operationId, summary }) as const;

const usageRoute = createRoute({
  ...get("/v1/usage", "usage", "Tokens and money"),
  request: {
    query: z.object({
      session: z.string().max(300).optional(),
      by: z.enum(["persona", "phase", "model", "session", "day"]).default("persona"),
      since: timeParameter,
      format: z.enum(["json", "csv"]).default("json"),
    }),
  },
  responses: {
    200: {
      description: "The usage. CSV has the rows only; an unknown value is an empty field.",
      content: { "application/json": { schema: usageReport }, "text/csv": { schema: z.string() } },
    },
    ...problems,
  },
});
const statusRoute = createRoute({
  ...get("/v1/status", "status", "Disk, queue, version"),
  responses: { 200: json("The server.", serverStatus), ...problems },
});
const breakersRoute = createRoute({
  ...get("/v1/breakers", "listBreakers", "The state of dependencies"),
  responses: { 200: json("The breakers.", breakersView), ...problems },
});
const ticketsRoute = createRoute({
  ...get("/v1/tickets", "listTickets", "Requests for help, newest first"),
  responses: { 200: json("The tickets.", ticketsView), ...problems },
});
const teamsRoute = createRoute({
  ...get("/v1/teams", "listTeams", "Teams that sessions may be started with"),
  responses: { 200: json("The teams.", teamsView), ...problems },
});
const resetRoute = createRoute({
  method: "post",
  path: "/v1/breakers/{name}/reset",
  operationId: "resetBreaker",
  summary: "Let the next call through at once",
  request: {
    params: z.object({ name: z.string().min(1).max(500).openapi({ description: "Percent-encoded." }) }),
    body: body(emptyRequest, { required: false }),
  },
  responses: { 200: json("The breaker.", breakerView), ...problems },
});
const linkRoute = createRoute({
  method: "post",
  path: "/v1/dashboard-links",
  operationId: "makeDashboardLink",
  summary: "A link that opens the dashboard once",
  request: { body: body(emptyRequest, { required: false }) },
  responses: { 201: json("The link.", dashboardLink), ...problems },
});

const signOutRoute = createRoute({
  method: "post",
  path: "/v1/sign-out",
  operationId: "signOut",
  summary: "End the login of this browser for good; its event streams end as well",
  request: { body: body(emptyRequest, { required: false }) },
  responses: {
    204: { description: "It is signed out. With a token instead of a cookie, nothing changes." },
    ...problems,
  },
});

/** Reads and actions that concern the whole server. */
export function addServerRoutes(app: App, parts: ServerParts): void {
  const { maestro, config, clock, teams, codes, logins, people, identity } = parts;
  const readBreakers = () => breakerViews(maestro, config.breaker, clock.now());

  addRoute(app, "viewer", usageRoute, async (c) => {
    const { session, by, since, format } = c.req.valid("query");
    const from = since === undefined ? undefined : Date.parse(since);
    if (format === "csv") {
      const csv = usageCsv(await maestro.usage({ session, by, since: from }));
      const headers = {
        "content-type": "text/csv; charset=utf-8",
        "content-disposition": 'attachment; filename="usage.csv"',
      };
      return c.body(csv, 200, headers);
    }
    const { dayTokens: tokens, dayUsd: usd } = config.budget;
    const today = { dayLimit: { tokens, usd }, now: clock.now() };
    return c.json(await usageReportView(maestro, { session, by, since: from }, today), 200);
  });
  addRoute(app, "viewer", statusRoute, async (c) => c.json(await readStatus(parts), 200));
  addRoute(app, "viewer", breakersRoute, async (c) => c.json({ breakers: await readBreakers() }, 200));
  addRoute(app, "viewer", ticketsRoute, async (c) => c.json(await readTickets(maestro), 200));
  addRoute(app, "viewer", teamsRoute, (c) => c.json(readTeams(teams, config.model, process.env), 200));

  addRoute(app, "admin", resetRoute, async (c) => {
    const { name } = c.req.valid("param");
    const known = (await maestro.breakers()).some(({ dependency }) => dependency === name);
    if (!known)
      throw new HttpProblem("NOT_FOUND", `There is no breaker "${name}".`, "GET /v1/breakers lists them.");
    await maestro.resetBreaker(name);
    const found = (await readBreakers()).find((breaker) => breaker.name === name);
    return c.json(found ?? closed(name, config.breaker), 200);
  });

  addRoute(app, "viewer", signOutRoute, async (c) => {
    const removed = await logins.end(c.req.header("cookie"), { secure: isSecure(c, identity.origin()) });
    await people.streams.closeEnded();
    return c.body(null, 204, { "set-cookie": removed });
  });

  addRoute(app, "viewer", linkRoute, (c) => {
    const { code, expiresAt } = codes.issue(c.get("person"));
    return c.json({ url: `${identity.origin()}/login?code=${code}`, expiresAt: isoTime(expiresAt) }, 201);
  });
}

/** A breaker without failures has no record. */
const closed = (name: string, { threshold, cooldownMs }: ServerParts["config"]["breaker"]) => ({
  name,
  state: "closed" as const,
  failures: 0,
  threshold,
  openedAt: null,
  probeAt: null,
  failedProbes: 0,
  notBefore: null,
  cooldownMs,
  waiting: [],
});
