import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import { HTTPException } from "hono/http-exception";
import { newId } from "../domain/ids.ts";
import { checkOrigin, requireAccess } from "./access/gate.ts";
import { signInPage, wantsPage } from "./access/outside-page.ts";
import { recordActs } from "./access/record-acts.ts";
import { securityHeaders } from "./access/security-headers.ts";
import { fieldProblem } from "./field-problem.ts";
import { readJsonBody } from "./json-body.ts";
import { exposition } from "./metrics/exposition.ts";
import { processMetrics } from "./metrics/process-metrics.ts";
import { storeMetrics } from "./metrics/store-metrics.ts";
import { describeApi } from "./openapi.ts";
import { FieldsInvalid, HttpProblem, problemOf, problemResponse } from "./problem.ts";
import { logRequest } from "./request-log.ts";
import { addActionRoutes } from "./routes/actions.ts";
import { addDeliveryRoutes } from "./routes/delivery.ts";
import { addEventRoutes } from "./routes/events.ts";
import { addLoginRoutes } from "./routes/login.ts";
import { addMcpRoute } from "./routes/mcp.ts";
import { methodsOf } from "./routes/methods.ts";
import { addPeopleRoutes } from "./routes/people.ts";
import { type App, type AppEnv, addRoute, json, problems } from "./routes/route.ts";
import { addServerRoutes } from "./routes/server.ts";
import { addSessionReadingRoutes } from "./routes/session.ts";
import { addSessionRoutes } from "./routes/sessions.ts";
import { addUploadRoutes, uploadsPath } from "./routes/uploads.ts";
import { health } from "./schemas/server.ts";
import type { ServerParts } from "./server-parts.ts";

const mostFields = 20;

/** The HTTP API as a value: `fetch` in, `Response` out. The order matters: each line guards the ones after it. */
export function createApp(parts: ServerParts): App {
  const app: App = new OpenAPIHono<AppEnv>({ defaultHook: refuseInvalid });
  answerErrors(app, parts);
  frame(app, parts);
  app.use(checkOrigin(parts));
  addRoute(app, "everyone", healthRoute, (c) => c.json({ status: "ok" }));
  addLoginRoutes(app, parts);
  app.use(requireAccess(parts));
  app.use(recordActs(parts));
  refuseWhenStopping(app, parts);
  readBodies(app);
  addUploadRoutes(app, parts);
  addSessionRoutes(app, parts);
  addSessionReadingRoutes(app, parts);
  addDeliveryRoutes(app, parts);
  addActionRoutes(app, parts);
  addEventRoutes(app, parts);
  addServerRoutes(app, parts);
  addPeopleRoutes(app, parts);
  addMcpRoute(app, parts);
  addMetricsRoute(app, parts);
  addDescription(app, parts);
  addDashboard(app, parts);
  return app;
}

const healthRoute = createRoute({
  method: "get",
  path: "/healthz",
  operationId: "health",
  summary: "Health check; the only route without a token",
  security: [],
  responses: { 200: json("The server answers.", health) },
});

/** Adds a request id, the duration and the security headers to every answer. */
function frame(app: App, { metrics, log }: ServerParts): void {
  app.use(async (c, next) => {
    const startedMs = performance.now();
    c.set("requestId", newId());
    await next();
    c.res.headers.set("x-request-id", c.get("requestId"));
    for (const [name, value] of Object.entries(securityHeaders))
      if (!c.res.headers.has(name)) c.res.headers.set(name, value);
    if (!c.res.headers.has("cache-control")) c.res.headers.set("cache-control", "no-store");
    const { status } = c.res;
    const [method, ms] = [c.req.raw.method, performance.now() - startedMs];
    metrics.request(method, status, ms);
    const person = c.get("person")?.name;
    logRequest(log, { requestId: c.get("requestId"), person, method, path: c.req.path, status, ms });
  });
}

function answerErrors(app: App, { report, identity }: ServerParts): void {
  const { program: start, stateDirectoryFlag } = identity;
  const place = { start, stateDir: stateDirectoryFlag ?? undefined };
  app.onError((error, c) => {
    const requestId = c.get("requestId") ?? newId();
    const problem = problemOf(known(error), requestId, place);
    if (problem.code === "UNEXPECTED") report(`Request ${requestId}: ${error.stack ?? String(error)}`);
    const challenge = problem.status === 401 ? { "www-authenticate": 'Bearer realm="maestro"' } : {};
    // The rest of a rejected body is not read: the connection closes after the answer.
    const isCut = problem.status === 413 || c.req.path === uploadsPath;
    const ending = isCut ? { connection: "close" } : {};
    if (problem.status === 401 && wantsPage(c.req.raw)) return signInPage(problem);
    return problemResponse(problem, { ...challenge, ...ending });
  });
  app.notFound((c) => {
    const requestId = c.get("requestId") ?? newId();
    const detail = `There is no ${c.req.method.slice(0, 20)} ${c.req.path.slice(0, 200)}.`;
    const allow = methodsOf(app, c.req.path).join(", ");
    if (allow === "") return problemResponse(problemOf(new HttpProblem("NOT_FOUND", detail), requestId));
    const error = new HttpProblem("METHOD_NOT_ALLOWED", detail, `Use ${allow}.`);
    return problemResponse(problemOf(error, requestId), { allow });
  });
}

/** Errors of the framework. */
function known(error: Error): Error {
  if (!(error instanceof HTTPException)) return error;
  if (error.status === 415) return new HttpProblem("UNSUPPORTED_MEDIA_TYPE", "The body must be JSON.");
  return new FieldsInvalid(error.message || "The request cannot be read.", []);
}

/** A request during a shutdown could stop halfway. */
function refuseWhenStopping(app: App, { isStopping }: ServerParts): void {
  app.use(async (_c, next) => {
    if (isStopping())
      throw new HttpProblem("SHUTTING_DOWN", "The server is stopping.", "Sessions resume at the next start.");
    await next();
  });
}

interface Validated {
  readonly success: boolean;
  readonly target: string;
  readonly error?: { readonly issues: readonly z.core.$ZodIssue[] };
  readonly data?: unknown;
}

const partNames: Readonly<Record<string, string>> = {
  json: "the body",
  query: "the query",
  param: "the path",
  header: "the headers",
};

function refuseInvalid({ success, target, error, data }: Validated): void {
  if (success) return;
  const fields = (error?.issues ?? []).slice(0, mostFields).map((issue) => fieldProblem(issue, data));
  const [first] = fields;
  const part = partNames[target] ?? "the request";
  const where = first === undefined || first.field === "" ? part : `"${first.field}" in ${part}`;
  throw new FieldsInvalid(`The request is not valid: ${where}. ${first?.message ?? ""}`.trimEnd(), fields);
}

/** Reads the body within its limits, before the framework reads it without limits. */
function readBodies(app: App): void {
  app.use(async (c, next) => {
    if (c.req.method !== "GET" && c.req.method !== "HEAD") {
      if (c.req.header("expect") !== undefined) c.env?.outgoing?.writeContinue();
      // An archive is written to disk as it arrives.
      if (c.req.method === "POST" && c.req.path === uploadsPath) return next();
      const text = await readJsonBody(c.req.raw);
      // Over a socket, an empty body is still a stream, and the framework would require a content type.
      if (text === undefined) c.req.raw = withoutBody(c.req.raw);
      // The framework stores a promise here, despite the type. Validators then find the checked body.
      c.req.bodyCache.text = Promise.resolve(text ?? "{}") as never;
    }
    await next();
  });
}

function withoutBody({ url, method, headers }: Request): Request {
  const kept = new Headers(headers);
  kept.delete("content-type");
  return new Request(url, { method, headers: kept });
}

const metricsRoute = createRoute({
  method: "get",
  path: "/metrics",
  operationId: "metrics",
  summary: "Counts and times for Prometheus",
  responses: {
    200: {
      description: "Prometheus' text format, version 0.0.4.",
      content: { "text/plain": { schema: z.string() } },
    },
    ...problems,
  },
});

function addMetricsRoute(app: App, { maestro, scheduler, metrics, hub, identity }: ServerParts): void {
  addRoute(app, "viewer", metricsRoute, async (c) => {
    const all = [
      ...(await storeMetrics(maestro, scheduler)),
      ...metrics.metrics(),
      ...processMetrics(identity, hub.streams),
    ];
    return c.body(exposition(all), 200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" });
  });
}

const descriptionRoute = createRoute({
  method: "get",
  path: "/openapi.json",
  operationId: "describe",
  summary: "This description, as OpenAPI 3.1",
  responses: {
    200: json("The description.", z.looseObject({ openapi: z.string() }).openapi("Description")),
    ...problems,
  },
});

function addDescription(app: App, { identity }: ServerParts): void {
  let described: ReturnType<typeof describeApi> | undefined;
  addRoute(app, "viewer", descriptionRoute, (c) => {
    described ??= describeApi(app, identity.version);
    return c.json(described);
  });
}

function addDashboard(app: App, { dashboard }: ServerParts): void {
  app.get(
    "*",
    async (c, next) => (await dashboard.answer(c.req.path, c.req.header("accept-encoding"))) ?? next(),
  );
}
