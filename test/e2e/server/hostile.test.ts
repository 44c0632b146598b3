import { join } from "node:path";
import { expect, test } from "vitest";
import { sendRaw, statusOf } from "./support/raw.ts";
import { newFolder, startServer, token } from "./support/server.ts";

const auth = `authorization: Bearer ${token}`;

/** A request that would cancel the session, if it were believed. */
const cancel = (
  id: string,
  headers: readonly string[],
  line = `POST /v1/sessions/${id}/cancel HTTP/1.1`,
): string =>
  [
    line,
    ...headers,
    "content-type: application/json",
    "content-length: 2",
    "connection: close",
    "",
    "{}",
  ].join("\r\n");

test("Host and Origin tricks, more than forty of them, change nothing over a real connection", async () => {
  const server = await startServer(
    join(newFolder(), "state"),
    ["--team", join(import.meta.dirname, "support/steps-team.ts")],
    {
      MAESTRO_API_TOKEN: token,
    },
  );
  const { id } = await server.post<{ id: string }>("/v1/sessions", { team: "steps", brief: "- 1 60000" });
  const port = server.port;
  const own = `host: 127.0.0.1:${port}`;
  const names = [
    "evil.example",
    `evil.example:${port}`,
    `127.0.0.1.evil.example:${port}`,
    `localhost.evil.example:${port}`,
    `localhost.:${port}`,
    "127.0.0.1",
    "localhost",
    "127.0.0.1:80",
    `127.1:${port}`,
    `127.0.0.2:${port}`,
    `0.0.0.0:${port}`,
    `0:${port}`,
    `0x7f000001:${port}`,
    `2130706433:${port}`,
    `[::]:${port}`,
    `[::ffff:127.0.0.1]:${port}`,
    `10.0.0.1:${port}`,
    `user@127.0.0.1:${port}`,
    `127.0.0.1:${port}@evil.example`,
    `127.0.0.1:${port},evil.example`,
    `127.0.0.1:${port} evil.example`,
    `127.0.0.1:0${port}`,
    "",
    "*",
    "null",
  ];
  const origins = [
    "null",
    "http://evil.example",
    `http://evil.example:${port}`,
    "http://127.0.0.1",
    "http://127.0.0.1:3000",
    "http://localhost:3000",
    `http://127.0.0.1:${port}.evil.example`,
    `http://127.0.0.1:${port}@evil.example`,
    `http://127.0.0.1:${port}/`,
    `http://127.0.0.1:${port}, http://evil.example`,
    "file://",
    "chrome-extension://abcdefgh",
    `ftp://127.0.0.1:${port}`,
  ];
  const attacks: [string, string][] = [
    ...names.map((name): [string, string] => [`Host ${name}`, cancel(id, [`host: ${name}`, auth])]),
    ...origins.map((origin): [string, string] => [
      `Origin ${origin}`,
      cancel(id, [own, auth, `origin: ${origin}`]),
    ]),
    ["no Host", cancel(id, [auth])],
    ["no Host, HTTP/1.0", cancel(id, [auth], `POST /v1/sessions/${id}/cancel HTTP/1.0`)],
    ["two Hosts", cancel(id, [own, "host: evil.example", auth])],
    ["two Hosts, the other way round", cancel(id, ["host: evil.example", own, auth])],
    ["the same Host twice", cancel(id, [own, own, auth])],
    [
      "another host in the address",
      cancel(id, [own, auth], `POST http://evil.example/v1/sessions/${id}/cancel HTTP/1.1`),
    ],
    [
      "a user in the address",
      cancel(id, [own, auth], `POST http://x@evil.example/v1/sessions/${id}/cancel HTTP/1.1`),
    ],
    ["X-Forwarded-Host", cancel(id, ["host: evil.example", `x-forwarded-host: 127.0.0.1:${port}`, auth])],
    ["a folded Host", cancel(id, [`host:\r\n 127.0.0.1:${port}`, "host: evil.example", auth])],
    ["Sec-Fetch-Site cross-site", cancel(id, [own, auth, "sec-fetch-site: cross-site"])],
    ["Sec-Fetch-Site same-site", cancel(id, [own, auth, "sec-fetch-site: same-site"])],
  ];
  expect(attacks.length).toBeGreaterThanOrEqual(40);
  for (const [title, request] of attacks) {
    const answer = await sendRaw(port, request);
    expect([400, 403], `${title}: ${answer.slice(0, 300)}`).toContain(statusOf(answer));
    expect(answer).not.toMatch(/access-control-allow/i);
  }
  const { status } = await server.get<{ status: string }>(`/v1/sessions/${id}`);
  expect(["queued", "running"]).toContain(status);
  expect(statusOf(await sendRaw(port, cancel(id, [own, auth])))).toBe(202);
});

test("the server survives malformed and oversized HTTP", async () => {
  const server = await startServer(join(newFolder(), "state"));
  const { port } = server;
  const own = `host: 127.0.0.1:${port}`;
  const post = (headers: readonly string[], body: string | Buffer) =>
    Buffer.concat([
      Buffer.from(["POST /v1/sessions HTTP/1.1", own, auth, ...headers, "", ""].join("\r\n")),
      Buffer.from(body),
    ]);
  const json = "content-type: application/json";
  const attacks: [string, string | Buffer, readonly number[]][] = [
    ["noise", Buffer.from(Array.from({ length: 5_000 }, (_, index) => (index * 7919) % 256)), [400, 0]],
    ["TLS", Buffer.from("16030100c8010000c40303", "hex"), [400, 0]],
    ["an endless line", `GET /${"a".repeat(100_000)} HTTP/1.1\r\n${own}\r\n\r\n`, [400, 414, 431, 0]],
    ["endless headers", `GET / HTTP/1.1\r\n${own}\r\nx: ${"a".repeat(100_000)}\r\n\r\n`, [400, 431, 0]],
    ["many headers", `GET / HTTP/1.1\r\n${own}\r\n${"x: y\r\n".repeat(5_000)}\r\n`, [400, 401, 431, 0]],
    ["a body of 100 MB that never comes", post([json, "content-length: 104857600"], ""), [413]],
    ["a negative length", post([json, "content-length: -1"], "{}"), [400]],
    ["two lengths", post([json, "content-length: 2", "content-length: 200"], "{}"), [400]],
    [
      "a length and chunks",
      post([json, "content-length: 2", "transfer-encoding: chunked"], "0\r\n\r\n"),
      [400],
    ],
    ["chunks that are none", post([json, "transfer-encoding: chunked"], "zz\r\n{}\r\n"), [400, 0]],
    ["an unknown coding", post([json, "transfer-encoding: gzip"], "{}"), [400, 501]],
    ["depth 100,000", post([json, "content-length: 200000"], "[".repeat(200_000)), [400]],
    ["a header with a line break", `GET / HTTP/1.1\r\n${own}\r\nx: a\u0000b\r\n\r\n`, [400]],
    ["an unknown method", `BREW /v1/sessions HTTP/1.1\r\n${own}\r\n${auth}\r\n\r\n`, [400, 404, 0]],
    ["CONNECT", `CONNECT evil.example:443 HTTP/1.1\r\nhost: evil.example:443\r\n\r\n`, [400, 403, 0]],
    ["TRACE", `TRACE /v1/sessions HTTP/1.1\r\n${own}\r\n\r\n`, [400, 401, 404, 405]],
    [
      "an upgrade",
      `GET /v1/events HTTP/1.1\r\n${own}\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n`,
      [400, 401, 426, 0],
    ],
    ["a null byte in the path", `GET /v1/sessions/%00 HTTP/1.1\r\n${own}\r\n${auth}\r\n\r\n`, [400, 404]],
    ["half a percent", `GET /v1/sessions/%E0%A4%A HTTP/1.1\r\n${own}\r\n${auth}\r\n\r\n`, [400, 404]],
    ["a backslash", `GET /v1\\sessions HTTP/1.1\r\n${own}\r\n${auth}\r\n\r\n`, [400, 404]],
  ];
  for (const [title, bytes, statuses] of attacks) {
    const answer = await sendRaw(port, bytes);
    expect(statuses, `${title}: ${answer.slice(0, 200)}`).toContain(statusOf(answer));
    expect(answer, `for ${title}`).not.toMatch(/ at .*\.(?:js|ts):\d+/);
    expect((await server.fetch("/v1/status")).status, `after ${title}`).toBe(200);
  }
  // Said twice, in case two answers come at once: the second must not be that of the first one's body.
  const pipelined = `GET /healthz HTTP/1.1\r\n${own}\r\n\r\nGET /v1/sessions HTTP/1.1\r\n${own}\r\n\r\n`;
  const both = await sendRaw(port, pipelined);
  expect(both.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 401"]);
});
