import { describe, expect, test } from "vitest";
import { systemClock } from "../../../src/domain/clock.ts";
import { BrowserLogins } from "../../../src/server/access/browser-logins.ts";
import { askForLink } from "../../../src/server/ask-for-link.ts";
import { base, problemOf, quickTeam, start, startServer, type TestServer, token } from "./support.ts";

const withoutToken = ["/healthz", "/login", "/signed-out"];

const nameOf = ({ maestro }: TestServer): string =>
  new BrowserLogins("any", { clock: systemClock, maestro }).cookieName;

/** Every route there is, with something in the place of its parameters. */
function routesOf({ app }: TestServer): { method: string; path: string }[] {
  const routes = app.routes
    .filter(({ method, path }) => method !== "ALL" && path !== "/*" && path !== "*")
    .map(({ method, path }) => ({ method, path: path.replaceAll(/:\w+/g, "x") }));
  const pages = ["/", "/s/x/run", "/usage", "/health", "/assets/index-12345678.js", "/nothing"];
  return [
    ...new Map(
      [...routes, ...pages.map((path) => ({ method: "GET", path }))].map((route) => [
        `${route.method} ${route.path}`,
        route,
      ]),
    ).values(),
  ];
}

describe("every route but /healthz", () => {
  test("is 401 without the token, with a wrong one, and with a forged cookie, and says how to get in", async () => {
    const server = await startServer();
    const routes = routesOf(server).filter(({ path }) => !withoutToken.includes(path));
    expect(routes.length).toBeGreaterThan(30);
    const attempts: Record<string, string>[] = [
      {},
      { authorization: "Bearer wrong-token-wrong-token-wrong-token" },
      { authorization: `Basic ${token}` },
      { cookie: `${nameOf(server)}=${"a".repeat(43)}` },
    ];
    for (const { method, path } of routes) {
      for (const headers of attempts) {
        const origin = { origin: base };
        const response = await server.app.request(`${base}${path}`, {
          method,
          headers: { ...origin, ...headers, "content-type": "application/json" },
          ...(method !== "GET" && { body: "{}" }),
        });
        expect(response.status, `${method} ${path}`).toBe(401);
        expect(response.headers.get("www-authenticate")).toBe('Bearer realm="maestro"');
        expect(await problemOf(response)).toMatchObject({ code: "UNAUTHORIZED", status: 401 });
      }
    }
  });

  test("looks the same as a missing route without the token", async () => {
    const { app } = await startServer();
    const [there, nowhere] = await Promise.all([
      app.request(`${base}/v1/sessions`),
      app.request(`${base}/v1/nowhere`),
    ]);
    expect(there.status).toBe(nowhere.status);
  });

  test("is never open by HEAD, OPTIONS or an unknown method either", async () => {
    const { app } = await startServer();
    for (const method of ["HEAD", "OPTIONS", "PUT", "DELETE", "TRACE", "PROPFIND"]) {
      if (method === "TRACE") continue;
      const response = await app.request(`${base}/v1/sessions`, { method });
      expect(response.status, `for ${method}`).toBe(401);
    }
  });
});

test("answers 405 with the allowed methods to an unknown method", async () => {
  const server = await startServer();
  const methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"];
  const routes = Map.groupBy(
    routesOf(server).filter(({ path }) => /^\/(?:v1\/|healthz|login|metrics|openapi)/.test(path)),
    ({ path }) => path,
  );
  expect(routes.size).toBeGreaterThan(25);
  for (const [path, there] of routes) {
    const known = there.map(({ method }) => method);
    const allow = [...known, ...(known.includes("GET") ? ["HEAD"] : [])].sort().join(", ");
    for (const method of methods.filter((each) => !known.includes(each))) {
      const response = await server.request(path, { method });
      expect([response.status, response.headers.get("allow")], `${method} ${path}`).toEqual([405, allow]);
      expect(await problemOf(response)).toMatchObject({ code: "METHOD_NOT_ALLOWED", status: 405 });
    }
  }
  for (const path of ["/v1/sessions/", "/v1/sessions/x/nothing", "/v1/sessions//events", "/v1", "/usage"]) {
    const response = await server.request(path, { method: "DELETE" });
    expect([response.status, response.headers.get("allow")], path).toEqual([404, null]);
  }
});

test("/healthz answers without a token and says nothing about the machine", async () => {
  const { app } = await startServer();
  const response = await app.request(`${base}/healthz`);
  expect(response.status).toBe(200);
  expect(await response.text()).toBe('{"status":"ok"}');
});

describe("the dashboard's link", () => {
  async function login(server: TestServer, link: string, headers: Record<string, string> = {}) {
    return server.app.request(link, { headers });
  }

  test("becomes a cookie once; the cookie reads, and changes things only from this server's own pages", async () => {
    const server = await startServer();
    const link = server.dashboardLink();
    const first = await login(server, link, { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" });
    expect(first.status).toBe(200);
    expect(first.headers.get("refresh")).toBe("0; url=/");
    expect(first.headers.get("content-security-policy")).toContain("default-src 'none'");
    const cookie = first.headers.get("set-cookie")?.split(";")[0] ?? "";
    expect((await login(server, link)).status).toBe(401);

    const ask = (path: string, init: RequestInit = {}) =>
      server.app.request(`${base}${path}`, { ...init, headers: { cookie, ...(init.headers as object) } });
    expect((await ask("/v1/sessions")).status).toBe(200);
    const body = { method: "POST", body: JSON.stringify({ team: "quick", brief: "x" }) };
    const type = { "content-type": "application/json" };
    const attack = async (headers: Record<string, string>) =>
      (await ask("/v1/sessions", { ...body, headers: { ...type, ...headers } })).status;
    expect(await attack({})).toBe(403);
    expect(await attack({ origin: "http://evil.example" })).toBe(403);
    expect(await attack({ origin: "http://127.0.0.1:3000", "sec-fetch-site": "same-site" })).toBe(403);
    expect(await attack({ origin: "null" })).toBe(403);
    expect((await server.get<{ total: number }>("/v1/sessions")).total).toBe(0);
    expect(await attack({ origin: base, "sec-fetch-site": "same-origin" })).toBe(201);
  });

  test("is not used up by link previews", async () => {
    const server = await startServer();
    const link = server.dashboardLink();
    await server.app.request(link, { method: "HEAD" });
    for (const header of [{ "sec-purpose": "prefetch;prerender" }, { purpose: "preview" }])
      expect((await login(server, link, header)).headers.get("set-cookie")).toBeNull();
    expect((await login(server, link)).headers.get("set-cookie")).not.toBeNull();
  });

  test("can be requested again with the token", async () => {
    const server = await startServer();
    const made = await server.post("/v1/dashboard-links");
    expect(made.status).toBe(201);
    const { url } = (await made.json()) as { url: string };
    expect((await login(server, url)).status).toBe(200);
  });

  test("with a wrong, empty or endless code opens nothing", async () => {
    const server = await startServer();
    for (const code of ["", "x", "..", "%00", "a".repeat(5_000)]) {
      const response = await login(server, `${base}/login?code=${code}`);
      expect(response.status, `for ${code.slice(0, 10)}`).toBe(401);
      expect(response.headers.get("set-cookie")).toBeNull();
    }
    expect((await login(server, `${base}/login`)).status).toBe(401);
  });
});

test("a page under another name or of another origin gets nothing done, token or not", async () => {
  const server = await startServer();
  const session = await start(server);
  const rebound = ["evil.example:4160", "localhost.evil.example:4160", "127.0.0.1:1"];
  const origins = ["http://evil.example", "null", "http://localhost:3000"];
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  for (const path of ["cancel", "pause", "fork", "resume"]) {
    const init = { method: "POST", headers, body: "{}" };
    for (const host of rebound) {
      const response = await server.app.request(`http://${host}/v1/sessions/${session.id}/${path}`, init);
      expect(await problemOf(response)).toMatchObject({ code: "HOST_NOT_ALLOWED", status: 403 });
    }
    for (const origin of origins) {
      const attacked = await server.request(`/v1/sessions/${session.id}/${path}`, {
        ...init,
        headers: { ...headers, origin },
      });
      expect(await problemOf(attacked)).toMatchObject({ code: "ORIGIN_NOT_ALLOWED", status: 403 });
    }
  }
  const after = await server.get<{ sessions: { id: string; status: string }[] }>("/v1/sessions");
  expect(after.sessions).toMatchObject([{ id: session.id, status: "queued" }]);
});

test("every answer, errors too, keeps browsers from sniffing, framing, caching and loading from elsewhere", async () => {
  const server = await startServer({ teams: [quickTeam] });
  for (const path of ["/v1/sessions", "/v1/nowhere", "/healthz", "/", "/openapi.json", "/metrics"]) {
    const { headers } = await server.request(path);
    expect(headers.get("x-content-type-options"), `for ${path}`).toBe("nosniff");
    expect(headers.get("x-frame-options")).toBe("DENY");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("cross-origin-resource-policy")).toBe("same-origin");
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    expect(headers.get("cache-control")).toMatch(/^no-(?:store|cache)$/);
    expect(headers.get("x-request-id")).toMatch(/^[0-9a-z]{26}$/);
    expect(headers.get("access-control-allow-origin")).toBeNull();
    expect(headers.get("server")).toBeNull();
  }
});

test("a browser without a cookie gets a page that says how to sign in", async () => {
  const { app } = await startServer();
  for (const path of ["/", "/s/x/run", "/login?code=used"]) {
    const response = await app.request(`${base}${path}`, { headers: { accept: "text/html,*/*;q=0.8" } });
    expect(response.status).toBe(401);
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(await response.text()).toContain("maestro serve --link");
  }
});

test("makes a new link only for a client with its state directory", async () => {
  const server = await startServer({ config: { server: { apiToken: token, port: 0 } } });
  const { host, port } = await server.listen();
  const config = { stateDir: server.stateDir, server: { host, port, apiToken: token } };
  const { url } = await askForLink(config as never);
  expect((await fetch(url)).headers.get("set-cookie")).toContain(nameOf(server));
  const other = { ...config, server: { ...config.server, apiToken: "another-token-of-another-server" } };
  await expect(askForLink(other as never)).rejects.toThrow("refused to make a link (401)");
  await server.stop();
  await expect(askForLink(config as never)).rejects.toThrow("No server answers");
});

test("rejects requests in terms of the API, without paths of this machine", async () => {
  const server = await startServer();
  const missing = await problemOf(await server.request("/v1/sessions/nowhere"));
  expect(missing).toMatchObject({ code: "SESSION_NOT_FOUND", advice: "GET /v1/sessions lists them." });
  expect(JSON.stringify(missing)).not.toContain(server.stateDir);
  const { id } = await start(server);
  const budget = await problemOf(await server.post(`/v1/sessions/${id}/budgets`, {}, "PATCH"));
  expect(budget).toMatchObject({ status: 400, detail: expect.stringContaining("usd, tokens or both") });
  expect(JSON.stringify(budget)).not.toContain("--");
});
