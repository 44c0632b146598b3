import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ManualClock } from "../../../src/domain/manual-clock.ts";
import { loginLimits } from "../../../src/server/access/browser-logins.ts";
import { codeLifeMs, OneTimeCodes } from "../../../src/server/access/one-time-code.ts";
import { owner } from "../../../src/server/access/person.ts";
import { base, startServer, type TestServer, teamOf, token, until } from "./support.ts";

test("a code opens once, not twice, and not after ten minutes", async () => {
  const clock = new ManualClock();
  const codes = new OneTimeCodes(clock);
  const { code, expiresAt } = codes.issue(owner);
  expect(expiresAt).toBe(clock.now() + codeLifeMs);
  expect(codes.redeem(`${code}x`)).toBeUndefined();
  expect(codes.redeem("")).toBeUndefined();
  expect(codes.redeem(code)).toEqual(owner);
  expect(codes.redeem(code)).toBeUndefined();
  const late = codes.issue(owner).code;
  await clock.advance(codeLifeMs);
  expect(codes.redeem(late)).toBeUndefined();
});

test("bounds unredeemed codes and keeps the newest", () => {
  const codes = new OneTimeCodes(new ManualClock());
  const issued = Array.from({ length: 500 }, () => codes.issue(owner).code);
  expect(codes.redeem(issued[0] ?? "")).toBeUndefined();
  expect(codes.redeem(issued.at(-1) ?? "")).toEqual(owner);
});

const start = Date.parse("2026-11-15T00:00:00Z");
const { idleMs, mostMs } = loginLimits;

/** Opens a new link, as a browser does. Returns the cookie, with the header that set it. */
async function signIn(server: TestServer): Promise<{ cookie: string; header: string }> {
  const response = await server.app.request(server.dashboardLink());
  const header = response.headers.get("set-cookie") ?? "";
  return { header, cookie: header.split(";")[0] ?? "" };
}

const ask = async ({ app }: TestServer, cookie: string, path = "/v1/teams"): Promise<number> =>
  (await app.request(`${base}${path}`, { headers: { cookie } })).status;

const signOut = ({ app }: TestServer, cookie: string, headers: Record<string, string> = { origin: base }) =>
  app.request(`${base}/v1/sign-out`, { method: "POST", headers: { cookie, ...headers } });

test("the cookie cannot be read by scripts or sent by other sites, and neither it nor the store holds a secret of the other", async () => {
  const server = await startServer();
  const { header, cookie } = await signIn(server);
  expect(header).toMatch(/; Path=\/; Max-Age=604800; HttpOnly; SameSite=Strict$/);
  expect(header).not.toContain(token);
  await server.stop();
  const [, secret = ""] = cookie.split("=");
  for (const file of ["maestro.db", "maestro.db-wal"]) {
    const path = join(server.stateDir, file);
    if (existsSync(path)) expect(readFileSync(path, "latin1")).not.toContain(secret);
  }
});

test("a browser stays signed in over a restart, and a new token signs it out", async () => {
  const server = await startServer();
  const { cookie } = await signIn(server);
  expect(await ask(server, `other=1; ${cookie}; more=2`)).toBe(200);
  await server.stop();
  const { stateDir } = server;
  const restarted = await startServer({ stateDir });
  expect(await ask(restarted, cookie)).toBe(200);
  await restarted.stop();
  const another = { server: { apiToken: "another-token-that-only-tests-know-9876" } };
  expect(await ask(await startServer({ stateDir, config: another }), cookie)).toBe(401);
});

test("a sign-out is final: for a copy of the cookie, at a second server and after a restart", async () => {
  const server = await startServer();
  const second = await startServer({ stateDir: server.stateDir });
  const [{ cookie }, other] = [await signIn(server), await signIn(server)];
  expect(await ask(second, cookie)).toBe(200);
  const answer = await signOut(server, cookie);
  expect(answer.status).toBe(204);
  expect(answer.headers.get("set-cookie")).toMatch(
    /^maestro_\w+=; Path=\/; Max-Age=0; HttpOnly; SameSite=Strict$/,
  );
  expect(await ask(server, cookie)).toBe(401);
  expect(await ask(second, cookie)).toBe(401);
  expect((await signOut(server, cookie)).status).toBe(401);
  await Promise.all([server.stop(), second.stop()]);
  const restarted = await startServer({ stateDir: server.stateDir });
  expect(await ask(restarted, cookie)).toBe(401);
  expect(await ask(restarted, other.cookie), "another browser").toBe(200);
});

test("no page of another origin signs a browser out", async () => {
  const server = await startServer();
  const { cookie } = await signIn(server);
  const attacks: Record<string, string>[] = [
    {},
    { origin: "http://evil.example" },
    { origin: "http://127.0.0.1:3000", "sec-fetch-site": "same-site" },
    // A link with a name and a password makes a browser send this header.
    { authorization: "Basic eDp5" },
  ];
  for (const headers of attacks)
    expect([401, 403], JSON.stringify(headers)).toContain((await signOut(server, cookie, headers)).status);
  expect(await ask(server, cookie)).toBe(200);
});

test("a login ends after a day without use, and after a week in any case", async () => {
  const clock = new ManualClock(start);
  const server = await startServer({ clock });
  const [used, unused] = [await signIn(server), await signIn(server)];
  for (let passedMs = 0; passedMs + idleMs / 2 < mostMs; passedMs += idleMs / 2) {
    expect(await ask(server, used.cookie), `after ${passedMs} ms`).toBe(200);
    expect(await ask(server, unused.cookie, "/healthz"), "no use of a login").toBe(200);
    await clock.advance(idleMs / 2);
  }
  expect(await ask(server, used.cookie)).toBe(200);
  await clock.advance(idleMs / 2);
  expect(await ask(server, used.cookie)).toBe(401);
  expect(await ask(server, unused.cookie)).toBe(401);
});

test("a cookie that was changed in any place is refused", async () => {
  const server = await startServer();
  const [name = "", secret = ""] = (await signIn(server)).cookie.split("=");
  for (let at = 0; at < secret.length; at += 1) {
    const changed = secret.slice(0, at) + (secret[at] === "A" ? "B" : "A") + secret.slice(at + 1);
    expect(await ask(server, `${name}=${changed}`), `changed at ${at}`).toBe(401);
  }
  for (const cookie of [`${name}=`, name, `${name}=${"1".repeat(100_000)}`, `x${name}=${secret}`])
    expect(await ask(server, cookie)).toBe(401);
});

test("the cookies of two servers of one machine have different names", async () => {
  const [one, two] = [await startServer(), await startServer()];
  const both = (await Promise.all([one, two].map(signIn))).map(({ cookie }) => cookie).join("; ");
  expect(await ask(one, both)).toBe(200);
  expect(await ask(two, both)).toBe(200);
});

test("an event stream ends with the login that opened it, and one of the token stays", async () => {
  const server = await startServer({ config: { server: { apiToken: token, port: 0 } } });
  const { url } = await server.listen();
  const { headers: made } = await fetch(server.dashboardLink());
  const cookie = made.get("set-cookie")?.split(";")[0] ?? "";
  const open = async (headers: Record<string, string>) => {
    const { status, body } = await fetch(`${url}/v1/events`, { headers });
    expect(status).toBe(200);
    const read = async () => {
      for await (const _chunk of body ?? []);
    };
    const end = () => "ended" as const;
    return { ended: read().then(end, end) };
  };
  const streams = { login: await open({ cookie }), token: await open({ authorization: `Bearer ${token}` }) };
  const answer = await fetch(`${url}/v1/sign-out`, { method: "POST", headers: { cookie, origin: url } });
  expect(answer.status).toBe(204);
  expect(await streams.login.ended).toBe("ended");
  expect(await Promise.race([streams.token.ended, Promise.resolve("open")])).toBe("open");
});

test("a file of a session is stored by no cache", async () => {
  const team = teamOf("writer", async ({ workspace }) => {
    await workspace.write("secret.txt", "private");
    return { summary: "done" };
  });
  const server = await startServer({ teams: [team] });
  server.drive();
  const response = await server.post("/v1/sessions", { team: "writer", brief: "x" });
  const { id } = (await response.json()) as { id: string };
  const { artifacts } = await until(server, id, "completed");
  const file = await server.request(`/v1/sessions/${id}/artifacts/${artifacts[0]?.sha256}`);
  expect(await file.text()).toBe("private");
  expect(file.headers.get("cache-control")).toBe("private, no-store");
});

test("the page after a sign-out needs no login, says so, and says how to sign in again", async () => {
  const { app } = await startServer();
  const response = await app.request(`${base}/signed-out`);
  expect(response.status).toBe(200);
  expect(response.headers.get("cache-control")).toBe("no-store");
  const page = await response.text();
  expect(page).toContain("You are signed out");
  expect(page).toContain("maestro serve --link");
});
