import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test } from "vitest";
import { InputInvalid } from "../../../src/domain/errors.ts";
import { defineTeam, persona, phase } from "../../../src/index.ts";
import { ServiceLost } from "../../../src/personas/mcp/service-lost.ts";
import { fetchPage, type WebReach } from "../../../src/run/programs/web.ts";
import { Artifacts } from "../../../src/store/artifacts.ts";
import { sentCalls } from "../../support/sent-calls.ts";
import { session } from "../mcp/session.ts";
import { TeamPlace } from "./place.ts";

type Answer = (request: IncomingMessage, response: ServerResponse) => unknown;

/** A web server on loopback. `host` is what a list names it by. */
async function webServer(answer: Answer) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method ?? ""} ${request.url ?? ""}`);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const host = `127.0.0.1:${port}`;
  return { asked, port, host, url: `http://${host}/` };
}

const page =
  (body: string | Uint8Array, type = "text/html; charset=utf-8", more: Record<string, string> = {}): Answer =>
  (_, response) =>
    response.writeHead(200, { "content-type": type, ...more }).end(body);

const neverAborted = new AbortController().signal;
const fetched = (url: string, reach: WebReach) => fetchPage(url, reach, neverAborted);

async function problemOf(url: string, reach: WebReach): Promise<Error> {
  const error = await fetched(url, reach).then(
    () => undefined,
    (problem: unknown) => problem,
  );
  expect(error).toBeInstanceOf(Error);
  return error as Error;
}

describe("a page", () => {
  test.each<[string, Answer, string]>([
    ["of HTML is its text", page("<h1>Hello</h1><p>you</p>"), "# Hello\n\nyou"],
    ["of text is as it is", page("a <b>\n  c", "text/plain"), "a <b>\n  c"],
    ["of JSON is as it is", page('{"a": 1}', "application/vnd.api+json"), '{"a": 1}'],
    ["without a type is looked at", (_, response) => response.end("<!doctype html><p>x</p>"), "x"],
    [
      "has the charset of its header",
      page(Buffer.from("caf\xe9", "latin1"), "text/plain; charset=ISO-8859-1"),
      "café",
    ],
    [
      "has the charset that it names itself",
      page(Buffer.from('<meta charset="windows-1252"><p>caf\xe9</p>', "latin1"), "text/html"),
      "café",
    ],
    ["has the charset of its mark", page(Buffer.from("\ufeffhi", "utf16le"), "text/plain"), "hi"],
    ["may be packed", page(gzipSync("<p>small</p>"), "text/html", { "content-encoding": "gzip" }), "small"],
  ])("%s", async (_, answer, text) => {
    const { url, host } = await webServer(answer);
    expect((await fetched(url, { allow: [host] })).text).toBe(text);
  });

  test("is found behind redirects within the list, and its address is the last one", async () => {
    const { url, host, asked } = await webServer(({ url: path }, response) =>
      path === "/" ? response.writeHead(302, { location: "/next#part" }).end() : response.end("there"),
    );
    expect(await fetched(url, { allow: [host] })).toEqual({
      url: `${url}next`,
      type: "text/plain",
      text: "there",
    });
    expect(asked).toEqual(["GET /", "GET /next"]);
  });
});

describe("not read, and told to the model, is", () => {
  const bomb = gzipSync(Buffer.alloc(100 * 1024 * 1024));

  test.each<[string, Answer, string]>([
    ["an image", page(Buffer.alloc(100, 7), "image/png"), "is image/png, which is not text."],
    ["binary data that calls itself text", page(Buffer.from([1, 0, 2]), "text/plain"), "is binary data."],
    [
      "a page that is not there",
      (_, response) => response.writeHead(404).end("no"),
      "answered with status 404.",
    ],
    ["a bomb", page(bomb, "text/html", { "content-encoding": "gzip" }), "is larger than 2097152 bytes"],
    ["a wrong packing", page("x", "text/html", { "content-encoding": "gzip" }), "cannot be unpacked"],
    [
      "an unknown packing",
      page("x", "text/html", { "content-encoding": "rot13" }),
      "is packed in a way that is not known",
    ],
    [
      "an endless page",
      (_, response) => {
        const part = "x".repeat(64 * 1024);
        const fill = (): void => {
          while (!response.destroyed && response.write(part));
        };
        response.writeHead(200, { "content-type": "text/plain" }).on("drain", fill);
        fill();
      },
      "is larger than 2097152 bytes",
    ],
    [
      "a circle of redirects",
      (_, response) => response.writeHead(301, { location: "/again" }).end(),
      "redirects more than 5 times",
    ],
    [
      "a redirect to another host",
      (_, response) => response.writeHead(302, { location: "http://elsewhere.example/" }).end(),
      "redirects to another address. elsewhere.example:80 is not one of the hosts that may be read.",
    ],
    [
      "a redirect to a file",
      (_, response) => response.writeHead(302, { location: "file:///etc/passwd" }).end(),
      "is not an address that begins with https:// or http://.",
    ],
  ])("%s", async (_, answer, told) => {
    const { url, host } = await webServer(answer);
    const problem = await problemOf(url, { allow: [host] });
    expect(problem).toBeInstanceOf(InputInvalid);
    expect(problem.message).toContain(told);
  });

  test("a redirect to another port of this machine", async () => {
    const secret = await webServer(page("secret"));
    const { url, host } = await webServer((_, response) =>
      response.writeHead(302, { location: secret.url }).end(),
    );
    const problem = await problemOf(url, { allow: [host] });
    expect(problem.message).toContain(`${secret.host} is not one of the hosts that may be read.`);
    expect(secret.asked).toEqual([]);
  });

  test.each([
    ["file:///etc/passwd", "is not an address that begins with"],
    ["no address", "is not an address that begins with"],
    ["https://user:pass@docs.example/", "a user or a password"],
    ["https://docs.example.evil.example/", "is not one of the hosts"],
    ["https://docs.example:8443/", "is not one of the hosts"],
    ["http://0x7f.1/", "127.0.0.1:80 is not one of the hosts"],
    ["http://[::ffff:127.0.0.1]/", "is not one of the hosts"],
  ])("the address %s", async (url, told) => {
    const problem = await problemOf(url, { allow: ["docs.example:443", "*.0.0.1"] });
    expect(problem).toBeInstanceOf(InputInvalid);
    expect(problem.message).toContain(told);
  });

  test.each([
    ["127.0.0.1"],
    ["10.0.0.7"],
    ["169.254.169.254"],
    ["::1"],
    ["::ffff:127.0.0.1"],
    ["fd00::1"],
    ["64:ff9b::a00:1"],
    ["93.184.216.34", "127.0.0.1"],
  ])("a listed name that its owner points at this machine or its network: %s", async (...addresses) => {
    const { asked, port } = await webServer(page("secret"));
    const problem = await problemOf(`http://docs.example:${port}/`, {
      allow: ["docs.example"],
      resolve: async () => addresses,
    });
    expect(problem).toBeInstanceOf(InputInvalid);
    expect(problem.message).toBe(
      "docs.example is an address of this machine or its network, which is not read.",
    );
    expect(asked).toEqual([]);
  });

  test("a page behind a redirect whose listed name points at this machine", async () => {
    const { url, host, port, asked } = await webServer((_, response) =>
      response.writeHead(302, { location: `http://docs.example:${port}/secret` }).end(),
    );
    const resolve = async () => ["127.0.0.1"];
    const problem = await problemOf(url, { allow: [host, "docs.example"], resolve });
    expect(problem.message).toContain("docs.example is an address of this machine");
    expect(asked).toEqual(["GET /"]);
  });

  test("a name that has no address", async () => {
    const problem = await problemOf("http://docs.example/", {
      allow: ["docs.example"],
      resolve: async () => [],
    });
    expect(problem.message).toBe("docs.example has no address.");
  });
});

test("a name that changes its address after it was checked is connected where it was checked", async () => {
  const { asked, port } = await webServer(page("secret"));
  let resolved = 0;
  const resolve = async (): Promise<readonly string[]> => {
    resolved += 1;
    return [resolved === 1 ? "93.184.216.34" : "127.0.0.1"];
  };
  const reach = { allow: ["docs.example"], resolve, limitMs: 2_000 };
  expect(await problemOf(`http://docs.example:${port}/`, reach)).toBeInstanceOf(ServiceLost);
  expect(resolved).toBe(1);
  expect(asked).toEqual([]);
});

describe("an outage is", () => {
  test.each<[string, Answer]>([
    ["a status that passes", (_, response) => response.writeHead(503).end()],
    ["a limit of requests", (_, response) => response.writeHead(429).end()],
    ["a broken connection", ({ socket }) => socket.destroy()],
    ["silence", () => {}],
    [
      "a page that comes too slowly",
      (_, response) => response.writeHead(200, { "content-type": "text/html" }).write("<p>"),
    ],
  ])("%s", async (_, answer) => {
    const { url, host } = await webServer(answer);
    expect(await problemOf(url, { allow: [host], limitMs: 1_000 })).toBeInstanceOf(ServiceLost);
  });
});

describe("a persona", () => {
  test("reads a page once, however often its host was lost before, and keeps a long one whole", async () => {
    let isLost = true;
    const { url, host, asked } = await webServer((request, response) => {
      if (isLost) response.writeHead(503).end();
      else page(`<p>${"word ".repeat(20_000)}the end</p>`)(request, response);
      isLost = false;
    });
    const { result, outputs, place, steps } = await session({}, ["fetch_url"], [["fetch_url", { url }]], {
      persona: { web: { allow: [host] } },
    });
    expect(result.status).toBe("completed");
    const { output = "", artifact = "" } = outputs.at(-1) ?? {};
    expect(output.startsWith(`[${url}, text/html]\nword word`)).toBe(true);
    expect(output.length).toBeLessThan(66 * 1024);
    expect(Buffer.from(await new Artifacts(place.stateDir).get(artifact)).toString()).toContain("the end");
    expect(asked).toHaveLength(2);
    expect(steps.map(({ name }) => name)).toContain("fetch_url");
  });

  test("is told which hosts it may read, and is refused any other", async () => {
    const { result, outputs, place } = await session(
      {},
      ["fetch_url"],
      [["fetch_url", { url: "http://169.254.169.254/latest/meta-data/" }]],
      { persona: { web: { allow: ["docs.example", "*.wiki.example"] } } },
    );
    expect(result.status).toBe("completed");
    expect(outputs[0]?.message).toContain("169.254.169.254:80 is not one of the hosts that may be read.");
    expect(outputs[0]?.message).toContain("They are: docs.example, *.wiki.example.");
    const [call] = await sentCalls(place.stateDir, result.id);
    const tools = call?.tools as readonly { readonly name: string; readonly description: string }[];
    expect(tools.find(({ name }) => name === "fetch_url")?.description).toContain(
      "It reads these hosts only: docs.example, *.wiki.example.",
    );
  });

  test("whose work is a function reads pages through ctx.tools", async () => {
    const { url, host } = await webServer(page("<p>for code</p>"));
    const place = new TeamPlace();
    const maestro = await place.open();
    const team = defineTeam("reader", {
      web: { allow: [host] },
      phases: [
        phase("read", {
          personas: [
            persona("reader", {
              tools: ["fetch_url"],
              run: async (ctx) => ({ summary: String(await ctx.tools["fetch_url"]?.execute({ url })) }),
            }),
          ],
        }),
      ],
    });
    const session = await maestro.start(team, { brief: "x" });
    expect(JSON.stringify(await session.result())).toContain("for code");
  });

  test("has no web unless its tools and a list of hosts name it", async () => {
    const { result, place } = await session({}, ["*"], []);
    const [call] = await sentCalls(place.stateDir, result.id);
    expect(JSON.stringify(call?.tools)).not.toContain("fetch_url");
    const define = (keys: object) => () =>
      defineTeam("wrong", {
        phases: [phase("p", { personas: [persona("dev", { instructions: "x", ...keys })] })],
      });
    expect(define({ tools: ["fetch_url"] })).toThrow("names fetch_url, and there is no web.allow");
    expect(define({ web: { allow: ["docs.example"] } })).toThrow(
      "has no effect: tools does not name fetch_url",
    );
    for (const allow of [[], ["http://docs.example"], ["*"], "docs.example"])
      expect(define({ tools: ["fetch_url"], web: { allow } })).toThrow("web.allow");
  });
});
