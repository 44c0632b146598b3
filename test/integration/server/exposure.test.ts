import { once } from "node:events";
import { chmod, copyFile, readFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { type RequestOptions, request } from "node:https";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { exposureNotices, isLoopback, isStrongToken } from "../../../src/server/access/exposure.ts";
import { askForLink } from "../../../src/server/ask-for-link.ts";
import { newFolder, startServer, token } from "./support.ts";

const pem = (name: string): string => join(import.meta.dirname, `../../fixtures/tls/${name}.pem`);
const tls = { tlsCert: pem("one.cert"), tlsKey: pem("one.key") };

describe("a strong token", () => {
  test.each([
    "aaaaaaaa",
    "a".repeat(64),
    "abababababababababababababababab",
    "abcdefghijklmnopqrstuvwxyz0123456789",
    "1234567890123456789012345678901234567890",
    "passwordpasswordpasswordpassword",
    "qwertzui",
    "Kx81-s9f.Q2",
  ])("is not %s", (weak) => {
    expect(isStrongToken(weak)).toBe(false);
  });

  test("is any of those that Maestro or openssl makes", () => {
    for (const encoding of ["hex", "base64", "base64url"] as const)
      for (let each = 0; each < 500; each += 1) {
        const made = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString(encoding);
        expect(isStrongToken(made), made).toBe(true);
      }
  });
});

test("only loopback addresses count as not reachable for others", () => {
  for (const host of ["127.0.0.1", "127.1.2.3", "localhost", "LOCALHOST", "::1", "[::1]"])
    expect(isLoopback(host), host).toBe(true);
  for (const host of [
    "0.0.0.0",
    "::",
    "192.168.0.7",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "::2",
    "box",
  ])
    expect(isLoopback(host), host).toBe(false);
});

test("an exposed server names the dangers that are left, and one on loopback none", () => {
  const at = (host: string, hasTls = false, publicUrl?: string) =>
    exposureNotices({ host, hasTls, publicUrl }).join("\n");
  expect(at("127.0.0.1")).toBe("");
  expect(at("0.0.0.0")).toMatch(/all addresses of this machine.*not encrypted.*--public-url/s);
  expect(at("0.0.0.0", true, "https://maestro.example.org")).not.toContain("encrypted");
  expect(at("0.0.0.0", false, "https://maestro.example.org")).not.toContain("encrypted");
  expect(at("0.0.0.0", false, "http://maestro.example.org")).toContain("not encrypted");
  expect(at("192.168.0.7", true)).toBe(
    "Maestro listens on 192.168.0.7. Every computer that can reach it can try to sign in.",
  );
});

test("a weak token is refused on an address that others reach, and is good enough for loopback", async () => {
  const weak = (host: string) => startServer({ config: { server: { host, port: 0, apiToken: "aaaaaaaa" } } });
  await expect(weak("0.0.0.0")).rejects.toMatchObject({
    message: expect.stringContaining("too easy to guess"),
    exitCode: 2,
    actions: [{ command: ["openssl", "rand", "-hex", "32"] }, { command: null }],
  });
  await expect(weak("127.0.0.1")).resolves.toBeDefined();
});

test("a weak token is refused under a public address, also behind a proxy to loopback", async () => {
  const weak = (publicUrl: string) =>
    startServer({ config: { server: { host: "127.0.0.1", port: 0, apiToken: "aaaaaaaa", publicUrl } } });
  await expect(weak("https://maestro.example.org")).rejects.toMatchObject({
    message: expect.stringContaining("that people reach as https://maestro.example.org") as string,
    exitCode: 2,
  });
  await expect(weak("http://localhost:8080")).resolves.toBeDefined();
  await expect(weak("http://[::1]:8080")).resolves.toBeDefined();
});

test("under a public address the server answers to that name and its own, and to no other", async () => {
  const publicUrl = "https://maestro.example.org";
  const server = await startServer({ config: { server: { apiToken: token, host: "0.0.0.0", publicUrl } } });
  const ask = async (host: string) =>
    (await server.app.request(`http://${host}/v1/teams`, { headers: { authorization: `Bearer ${token}` } }))
      .status;
  expect(await ask("maestro.example.org")).toBe(200);
  expect(await ask("127.0.0.1:4160")).toBe(200);
  for (const host of ["evil.example", "192.168.0.7:4160", "maestro.example.org.evil.example", "0.0.0.0:4160"])
    expect(await ask(host), host).toBe(403);
  const link = new URL(server.dashboardLink());
  expect(link.origin).toBe(publicUrl);
  // As the proxy passes it on.
  const login = await server.app.request(`http://maestro.example.org${link.pathname}${link.search}`);
  expect(login.headers.get("set-cookie")).toMatch(/; Secure$/);
  const local = await server.app.request(
    `http://127.0.0.1:4160${new URL(server.dashboardLink()).search.replace("?", "/login?")}`,
  );
  expect(local.headers.get("set-cookie"), "a plain connection would not send it back").not.toContain(
    "Secure",
  );
});

describe("with a certificate and its key", () => {
  async function ask(
    url: string,
    options: RequestOptions,
  ): Promise<{ status: number; cookie: string; body: string }> {
    const ca = await readFile(pem("one.cert"));
    const asked = request(url, { ca, agent: false, ...options }).end();
    const [answer] = (await once(asked, "response")) as [IncomingMessage];
    return {
      status: answer.statusCode ?? 0,
      cookie: answer.headers["set-cookie"]?.[0] ?? "",
      body: await text(answer),
    };
  }

  test("the server speaks TLS alone, its cookies are Secure, and its links are https", async () => {
    const server = await startServer({ config: { server: { apiToken: token, port: 0, ...tls } } });
    const { url, port } = await server.listen();
    expect(url).toBe(`https://127.0.0.1:${port}`);
    const authorization = `Bearer ${token}`;
    expect((await ask(`${url}/v1/teams`, { headers: { authorization } })).status).toBe(200);
    expect((await ask(`${url}/v1/teams`, {})).status).toBe(401);
    const evil = await ask(`${url}/v1/teams`, {
      headers: { authorization, host: "evil.example" },
      servername: "localhost",
    });
    expect(evil.body).toContain("HOST_NOT_ALLOWED");
    const login = await ask(server.dashboardLink(), {});
    expect([login.status, login.cookie]).toEqual([200, expect.stringMatching(/; Secure$/)]);
    expect((await ask(`${url}/v1/teams`, { headers: { cookie: login.cookie.split(";")[0] } })).status).toBe(
      200,
    );
    await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow("fetch failed");
  });

  test("`serve --link` asks only a server that holds the certificate", async () => {
    const server = await startServer({ config: { server: { apiToken: token, port: 0, ...tls } } });
    const { host, port } = await server.listen();
    const config = { stateDir: server.stateDir, server: { host, port, apiToken: token, ...tls } };
    expect((await askForLink(config as never)).url).toMatch(/^https:\/\/127\.0\.0\.1:\d+\/login\?code=/);
    const other = { ...config, server: { ...config.server, tlsCert: pem("two.cert") } };
    await expect(askForLink(other as never)).rejects.toThrow("No server answers");
  });

  test.each([
    ["without a key", { tlsCert: tls.tlsCert }, "--tls-key is missing"],
    ["without a certificate", { tlsKey: tls.tlsKey }, "--tls-cert is missing"],
    ["of another certificate", { ...tls, tlsKey: pem("two.key") }, "does not belong to the certificate"],
    ["that is not there", { ...tls, tlsKey: pem("none") }, "there is no such file"],
    ["that is a certificate", { ...tls, tlsKey: pem("one.cert") }, "does not hold a private key"],
    ["as the certificate", { ...tls, tlsCert: pem("one.key") }, "does not hold a certificate"],
    ["with a passphrase", { ...tls, tlsKey: pem("locked.key") }, "protected by a passphrase"],
    ["of an expired certificate", { ...tls, tlsCert: pem("expired.cert") }, "expired on"],
    ["that is a folder", { ...tls, tlsKey: import.meta.dirname }, "EISDIR"],
  ])("a key %s is refused at the start with exit code 2", async (_title, files, why) => {
    await expect(
      startServer({ config: { server: { apiToken: token, port: 0, ...files } } }),
    ).rejects.toMatchObject({ message: expect.stringContaining(why), exitCode: 2 });
  });

  test.skipIf(process.getuid?.() === 0)("a key that may not be read is refused with the reason", async () => {
    const tlsKey = join(await newFolder(), "key.pem");
    await copyFile(tls.tlsKey, tlsKey);
    await chmod(tlsKey, 0);
    await expect(startServer({ config: { server: { apiToken: token, ...tls, tlsKey } } })).rejects.toThrow(
      "it may not be read",
    );
  });
});
