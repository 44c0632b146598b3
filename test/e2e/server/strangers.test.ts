import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { connectionLimits } from "../../../src/server/connections.ts";
import { sendRaw } from "./support/raw.ts";
import { newFolder, type ServerProcess, startServer, token } from "./support/server.ts";
import { behaviors, type Kind, Strangers, startCrowd } from "./support/strangers.ts";

const crowd = 2_000;
const attackMs = 3_000;
/** On a machine that does much else. */
const answerWithinMs = 20_000;

/** A signed-in request on a connection of its own. */
function ask({ port }: ServerProcess, path = "/v1/status"): Promise<{ status: number; ms: number }> {
  const startedMs = performance.now();
  return new Promise((resolve, reject) => {
    const asked = request({ port, host: "127.0.0.1", path, agent: false });
    asked.setHeader("authorization", `Bearer ${token}`);
    asked.on("error", reject);
    asked.on("response", (response) => {
      response.resume();
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, ms: performance.now() - startedMs }),
      );
    });
    asked.end();
  });
}

/** Whether the stream of a signed-in reader is still open. */
async function openStream(server: ServerProcess): Promise<() => boolean> {
  const response = await server.fetch("/v1/events");
  let isOpen = true;
  const read = async () => {
    for await (const _chunk of response.body ?? []);
  };
  void read()
    .catch(() => undefined)
    .finally(() => {
      isOpen = false;
    });
  return () => isOpen;
}

const halfOpen: readonly Kind[] = ["sends nothing", "sends half a header", "sends a header slowly"];
const several = ["127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5"];

test.each([
  ["half-open from one address", halfOpen, ["127.0.0.1"]],
  ["half-open from five addresses", halfOpen, several],
  ["slow or unread from one address", ["sends a body slowly", "reads no answer"], ["127.0.0.1"]],
] satisfies [string, readonly Kind[], readonly string[]][])(
  "2,000 connections without a token, %s, keep out no signed-in request and end no event stream",
  async (_title, kinds, addresses) => {
    const server = await startServer(join(newFolder(), "state"));
    const isStreaming = await openStream(server);
    const attack = await startCrowd(server.port, crowd, kinds, addresses);
    onTestFinished(() => void attack.end());
    const untilMs = performance.now() + attackMs;
    let answers = 0;
    while (performance.now() < untilMs || attack.connections() <= crowd) {
      const { status, ms } = await ask(server);
      expect(status).toBe(200);
      expect(ms).toBeLessThan(answerWithinMs);
      answers += 1;
    }
    expect(answers).toBeGreaterThan(1);
    expect(isStreaming()).toBe(true);
  },
);

test("a connection without a token is closed after ten seconds, whatever it sends and whether or not it reads", async () => {
  const server = await startServer(join(newFolder(), "state"));
  const isStreaming = await openStream(server);
  const strangers = new Strangers(server.port, ["127.0.0.1"]);
  onTestFinished(() => strangers.end());
  strangers.stop();
  await strangers.connect(25, Object.keys(behaviors) as Kind[]);
  const { strangerLifeMs } = connectionLimits;
  // One that does not read learns of its end when it reads on.
  for (const { socket } of strangers.all) setTimeout(() => socket.resume(), strangerLifeMs + 500);
  await vi.waitFor(() => expect(strangers.all.every(({ lifeMs }) => lifeMs !== undefined)).toBe(true), {
    timeout: strangerLifeMs + 10_000,
    interval: 100,
  });
  for (const { kind, lifeMs } of strangers.all) expect(lifeMs, kind).toBeLessThan(strangerLifeMs + 8_000);
  expect(isStreaming()).toBe(true);
  expect((await ask(server)).status).toBe(200);
});

test("a signed-in connection that breaks off its next header is closed after ten seconds", async () => {
  const { port } = await startServer(join(newFolder(), "state"));
  const head = `GET /v1/status HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: Bearer ${token}\r\n`;
  const socket = connect(port, "127.0.0.1");
  let received = "";
  socket.on("data", (chunk) => {
    received += chunk.toString();
  });
  await once(socket, "connect");
  const startedMs = performance.now();
  // It keeps its own side open: only the server ends it.
  socket.write(`${head}\r\n${head}x: `);
  await once(socket, "close");
  const lifeMs = performance.now() - startedMs;
  expect(received).toMatch(/^HTTP\/1\.1 200 /);
  expect(received).toContain("HTTP/1.1 408 ");
  expect(received).toContain('"code":"REQUEST_TIMEOUT"');
  expect([lifeMs > 9_000, lifeMs < 20_000], `${lifeMs} ms`).toEqual([true, true]);
});

test("a body is asked for only once the token was accepted", async () => {
  const { port } = await startServer(join(newFolder(), "state"));
  const head = ["POST /v1/sessions HTTP/1.1", `host: 127.0.0.1:${port}`, "content-type: application/json"];
  const ask = (...more: readonly string[]) =>
    sendRaw(port, `${[...head, "content-length: 2", "expect: 100-continue", ...more].join("\r\n")}\r\n\r\n`);
  expect(await ask()).toMatch(/^HTTP\/1\.1 401 /);
  expect(await ask(`authorization: Bearer ${token}`)).toMatch(/^HTTP\/1\.1 100 Continue/);
});
