import { request as requestPlain } from "node:http";
import { describe, expect, test } from "vitest";
import { addUser, mayAct, type Role, roles } from "../../../src/api/people.ts";
import type { SessionId } from "../../../src/domain/ids.ts";
import { ManualClock } from "../../../src/domain/manual-clock.ts";
import { base, newFolder, start, startServer, type TestServer, token, until } from "./support.ts";
import { reviewTeam } from "./teams.ts";

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly "x-role"?: string }>>>>;
}

interface Route {
  readonly method: string;
  readonly path: string;
  readonly role: string | undefined;
}

/** Every route with its role, from the document, and those that the document does not have. */
async function routesOf(server: TestServer): Promise<Route[]> {
  const { paths } = await server.get<Document>("/openapi.json");
  const described = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, route]) => ({
      method: method.toUpperCase(),
      path,
      role: route["x-role"],
    })),
  );
  const known = new Set(described.map(({ method, path }) => `${method} ${path}`));
  const others = server.app.routes
    .map(({ method, path }) => ({ method, path: path.replaceAll(/:(\w+)(?:\{[^}]*\})?/g, "{$1}") }))
    .filter(({ method, path }) => method !== "ALL" && !known.has(`${method} ${path}`))
    .map((route) => ({ ...route, role: undefined }));
  return [...described, ...others];
}

/** A role for every route, so that a new route without a line here fails. */
const expected: Readonly<Record<string, readonly string[]>> = {
  everyone: ["GET /healthz"],
  undescribed: ["GET /signed-out", "GET /login", "GET /*"],
  admin: [
    "POST /v1/breakers/{name}/reset",
    "GET /v1/users",
    "POST /v1/users",
    "DELETE /v1/users/{name}",
    "GET /v1/audit",
  ],
  operator: [
    "POST /v1/uploads",
    "POST /v1/sessions",
    "POST /v1/sessions/{id}/pause",
    "POST /v1/sessions/{id}/cancel",
    "POST /v1/sessions/{id}/approve",
    "POST /v1/sessions/{id}/reject",
    "POST /v1/sessions/{id}/resume",
    "POST /v1/sessions/{id}/fork",
    "POST /v1/sessions/{id}/phases/{phase}",
    "POST /v1/sessions/{id}/steps/{seq}/settle",
    "POST /v1/sessions/{id}/calls/{seq}/approve",
    "POST /v1/sessions/{id}/calls/{seq}/reject",
    "POST /v1/sessions/{id}/calls/{seq}/answer",
    "PATCH /v1/sessions/{id}/budgets",
  ],
  /** These change only the login of the person; each tool of MCP is a request of its own. */
  viewer: ["POST /v1/dashboard-links", "POST /v1/sign-out", "POST /mcp"],
};

async function person(server: TestServer, role: Role, name = `the-${role}`): Promise<string> {
  const { access } = server.maestro;
  return (await addUser(access, { name, role, kind: "token" }, Date.now())).secret;
}

const withToken = (secret: string, path: string, server: TestServer, init: RequestInit = {}) =>
  server.request(path, {
    ...init,
    headers: { authorization: `Bearer ${secret}`, ...(init.headers as object) },
  });

test("every route has the role that it is expected to have; what is not listed only reads", async () => {
  const server = await startServer();
  const routes = await routesOf(server);
  expect(routes.length).toBeGreaterThan(40);
  for (const { method, path, role } of routes) {
    const name = `${method} ${path}`;
    const listed = Object.keys(expected).find((each) => expected[each]?.includes(name));
    expect(role ?? "undescribed", name).toBe(listed ?? "viewer");
    if (listed === undefined) expect(method, name).toBe("GET");
  }
});

describe.each(roles)("a person with the role %s", (role) => {
  test("is refused by every route that needs more, before the request is read, and by no other", async () => {
    const server = await startServer({ teams: [reviewTeam] });
    const secret = await person(server, role);
    for (const route of await routesOf(server)) {
      if (route.role === undefined || route.role === "everyone" || route.path === "/v1/events") continue;
      const path = route.path.replaceAll(/\{seq\}/g, "1").replaceAll(/\{\w+\}/g, "none");
      const body = route.method === "GET" ? {} : { body: "{}" };
      const headers = { "content-type": "application/json" };
      const answer = await withToken(secret, path, server, { method: route.method, headers, ...body });
      const problem = answer.ok ? undefined : ((await answer.json()) as { code: string; status: number });
      const isRefused = problem?.code === "ROLE_NOT_ALLOWED";
      expect(isRefused, `${role} on ${route.method} ${path}`).toBe(!mayAct(role, route.role as Role));
      if (isRefused) expect(problem?.status).toBe(403);
    }
    expect((await server.get<{ total: number }>("/v1/sessions")).total).toBe(0);
  });
});

test("the journal, the session and the audit view have the name of the person who started, approved and resumed", async () => {
  const server = await startServer({ teams: [reviewTeam] });
  server.drive();
  const operator = await person(server, "operator", "ada");
  const viewer = await person(server, "viewer", "bob");
  const post = (secret: string, path: string, body: object) =>
    withToken(secret, path, server, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const started = await post(operator, "/v1/sessions", { team: "review", brief: "b", key: "k" });
  const { id, owner } = (await started.json()) as { id: string; owner: string };
  expect([started.status, owner]).toEqual([201, "ada"]);
  await until(server, id, "parked");
  expect((await post(viewer, "/v1/sessions/k/approve", { resume: true })).status).toBe(403);
  expect((await post(operator, "/v1/sessions/k/approve", { note: "good", resume: true })).status).toBe(202);
  await until(server, id, "completed");
  const texts: string[] = [];
  for await (const page of server.maestro.rows(id as SessionId))
    texts.push(...page.map(({ kind, body }) => `${kind} ${body}`));
  const said = (kind: string) => texts.filter((text) => text.startsWith(kind)).join();
  expect(said("session.created")).toContain('"owner":"ada"');
  expect(said("signal.received")).toContain('"person":"ada"');
  expect(said("session.status")).toContain('"person":"ada"');
  expect(texts.join()).not.toContain("bob");

  const { sessions } = await server.get<{ sessions: { owner: string }[] }>("/v1/sessions");
  expect(sessions.map((session) => session.owner)).toEqual(["ada"]);
  const { acts } = await server.get<{ acts: object[] }>("/v1/audit");
  expect(acts).toMatchObject([
    { person: "ada", role: "operator", operation: "approveSession", subject: "k", status: 202 },
    { person: "bob", role: "viewer", operation: "approveSession", subject: "k", status: 403 },
    { person: "ada", operation: "startSession", subject: id, status: 201 },
  ]);
  expect(await server.get("/v1/audit?person=bob")).toMatchObject({ acts: [{ person: "bob" }] });
});

test("with one token for all, the journal has no name", async () => {
  const server = await startServer();
  const { id } = await start(server);
  await server.post(`/v1/sessions/${id}/cancel`);
  const texts: string[] = [];
  for await (const page of server.maestro.rows(id as SessionId)) texts.push(...page.map(({ body }) => body));
  expect(texts.join()).not.toMatch(/"person"|"owner":"owner"/);
});

describe("a revocation", () => {
  async function listening() {
    const server = await startServer({ config: { server: { apiToken: token, port: 0 } } });
    const { port } = await server.listen();
    /** In an object, because a promise of a promise would wait for both. */
    const open = (headers: Record<string, string>): Promise<{ readonly ended: Promise<string> }> =>
      new Promise((resolve, reject) => {
        const sent = requestPlain({ host: "127.0.0.1", port, path: "/v1/events", headers }, (response) => {
          response.resume();
          const ended = new Promise<string>((end) => response.once("close", () => end("closed")));
          expect(response.statusCode).toBe(200);
          resolve({ ended });
        });
        sent.once("error", reject).end();
      });
    return { server, open, url: `http://127.0.0.1:${port}` };
  }

  test("ends token, login and both event streams at once when another process revokes", async () => {
    const { server, open, url } = await listening();
    const secret = await person(server, "viewer", "eve");
    const authorization = `Bearer ${secret}`;
    const made = await fetch(`${url}/v1/dashboard-links`, { method: "POST", headers: { authorization } });
    const link = ((await made.json()) as { url: string }).url;
    const cookie = (await fetch(link)).headers.get("set-cookie")?.split(";")[0] ?? "";
    expect(await (await fetch(`${url}/v1/me`, { headers: { cookie } })).json()).toEqual({
      name: "eve",
      role: "viewer",
    });
    const streams = await Promise.all([open({ authorization }), open({ cookie })]);
    // As `maestro users revoke` does, which the server does not hear of.
    await server.maestro.access.users.revoke("eve");
    expect((await fetch(`${url}/v1/me`, { headers: { authorization } })).status).toBe(401);
    expect((await fetch(`${url}/v1/me`, { headers: { cookie } })).status).toBe(401);
    expect(await Promise.all(streams.map(({ ended }) => ended))).toEqual(["closed", "closed"]);
  });

  test("ends the dashboard link, also when the name is given again to an admin", async () => {
    const server = await startServer();
    const secret = await person(server, "viewer", "eve");
    const link = async () => {
      const made = await withToken(secret, "/v1/dashboard-links", server, { method: "POST" });
      return ((await made.json()) as { url: string }).url;
    };
    const [unused, opened] = [await link(), await link()];
    const cookie = (await server.app.request(opened)).headers.get("set-cookie")?.split(";")[0] ?? "";
    await server.maestro.access.users.revoke("eve");
    await person(server, "admin", "eve");
    const answer = await server.app.request(unused);
    expect([answer.status, answer.headers.get("set-cookie")]).toEqual([401, null]);
    expect((await server.app.request(`${base}/v1/me`, { headers: { cookie } })).status).toBe(401);
  });

  test("by an admin over HTTP ends the streams", async () => {
    const { server, open, url } = await listening();
    const secret = await person(server, "operator", "eve");
    const { ended } = await open({ authorization: `Bearer ${secret}` });
    const headers = { authorization: `Bearer ${token}` };
    expect((await fetch(`${url}/v1/users/eve`, { method: "DELETE", headers })).status).toBe(204);
    expect(await ended).toBe("closed");
    expect((await fetch(`${url}/v1/users/eve`, { method: "DELETE", headers })).status).toBe(400);
  });
});

describe("a link for a colleague", () => {
  async function linkOf(server: TestServer, body: object) {
    const answer = await server.post("/v1/users", { kind: "link", role: "viewer", ...body });
    return (await answer.json()) as { url: string; token: null; endsAt: string };
  }

  test("signs a browser in once with its role, over a restart, until it ends or is revoked", async () => {
    const stateDir = await newFolder();
    const first = await startServer({ stateDir });
    const { url, token: none } = await linkOf(first, { name: "guest", days: 1 });
    expect(none).toBeNull();
    await first.stop();
    const server = await startServer({ stateDir });
    const cookie = (await server.app.request(url)).headers.get("set-cookie")?.split(";")[0] ?? "";
    const ask = async (path: string, method = "GET") =>
      (await server.app.request(`${base}${path}`, { method, headers: { cookie, origin: base } })).status;
    expect(await ask("/v1/sessions")).toBe(200);
    expect(await ask("/v1/sessions", "POST")).toBe(403);
    expect((await server.app.request(url)).status, "once").toBe(401);
    expect((await server.request("/v1/users/guest", { method: "DELETE" })).status).toBe(204);
    expect(await ask("/v1/sessions")).toBe(401);
  });

  test("ends at its time, with the login that it made", async () => {
    const clock = new ManualClock(Date.parse("2026-11-15T00:00:00Z"));
    const server = await startServer({ clock });
    const { url } = await linkOf(server, { name: "short", days: 0.05 });
    const late = (await linkOf(server, { name: "unused", days: 0.05 })).url;
    const cookie = (await server.app.request(url)).headers.get("set-cookie")?.split(";")[0] ?? "";
    await clock.advance(2 * 3_600_000);
    const { status } = await server.app.request(`${base}/v1/me`, { headers: { cookie } });
    expect(status).toBe(401);
    expect((await server.app.request(late)).status).toBe(401);
  });
});

test("refuses a name that exists, the name of the owner, an unknown role and a link without end", async () => {
  const server = await startServer();
  const add = async (body: object) => (await server.post("/v1/users", { role: "viewer", ...body })).status;
  expect(await add({ name: "ada" })).toBe(201);
  expect(await add({ name: "ada" })).toBe(409);
  expect(await add({ name: "Ada" })).toBe(409);
  for (const name of ["owner", "Owner", "OWNER"]) expect(await add({ name }), name).toBe(400);
  expect(await add({ name: "a b" })).toBe(400);
  expect(await add({ name: "c", role: "root" })).toBe(400);
  expect(await add({ name: "d", kind: "link", days: 1_000 })).toBe(400);
  const { users } = await server.get<{ users: object[] }>("/v1/users");
  expect(users).toEqual([
    expect.objectContaining({ name: "ada", role: "viewer", kind: "token", endsAt: null }),
  ]);
  expect(JSON.stringify(users)).not.toContain("maestro_");
});
