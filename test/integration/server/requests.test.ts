import { describe, expect, test } from "vitest";
import { problemOf, start, startServer } from "./support.ts";

const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;

test("rejects an invalid request with a stable code, and answers the next one", async () => {
  const server = await startServer();
  const post = (body: string | Uint8Array<ArrayBuffer> | null, type: string | null = "application/json") =>
    server.request("/v1/sessions", {
      method: "POST",
      body,
      headers: type === null ? {} : { "content-type": type },
    });
  const good = { team: "quick", brief: "x" };
  const refused: [string, Promise<Response>, number, string][] = [
    ["no body", post(null), 400, "INPUT_INVALID"],
    ["no JSON", post("{"), 400, "INPUT_INVALID"],
    ["a list", post("[]"), 400, "INPUT_INVALID"],
    ["null", post("null"), 400, "INPUT_INVALID"],
    ["trailing text", post(`${JSON.stringify(good)} x`), 400, "INPUT_INVALID"],
    ["bytes that are no text", post(new Uint8Array([0xff, 0xfe, 0x7b, 0x7d])), 400, "INPUT_INVALID"],
    [
      "a form",
      post("team=quick&brief=x", "application/x-www-form-urlencoded"),
      415,
      "UNSUPPORTED_MEDIA_TYPE",
    ],
    ["text", post(JSON.stringify(good), "text/plain"), 415, "UNSUPPORTED_MEDIA_TYPE"],
    ["JSON's relatives", post(JSON.stringify(good), "application/ld+json"), 415, "UNSUPPORTED_MEDIA_TYPE"],
    [
      "another charset",
      post(JSON.stringify(good), "application/json; charset=utf-16"),
      415,
      "UNSUPPORTED_MEDIA_TYPE",
    ],
    ["multipart", post("--x--", "multipart/form-data; boundary=x"), 415, "UNSUPPORTED_MEDIA_TYPE"],
    ["depth 100,000", post(deep(100_000)), 400, "INPUT_INVALID"],
    ["depth 65", post(deep(65)), 400, "INPUT_INVALID"],
    ["__proto__", post('{"team":"quick","brief":"x","__proto__":{"admin":true}}'), 400, "INPUT_INVALID"],
    ["an unknown key", post(JSON.stringify({ ...good, definition: {} })), 400, "INPUT_INVALID"],
    ["an inline team", post(JSON.stringify({ ...good, team: { name: "x" } })), 400, "INPUT_INVALID"],
    ["an unknown team", post(JSON.stringify({ ...good, team: "nobody" })), 400, "INPUT_INVALID"],
    ["an empty brief", post(JSON.stringify({ ...good, brief: "" })), 400, "INPUT_INVALID"],
    ["a blank brief", post(JSON.stringify({ ...good, brief: " \n" })), 400, "INPUT_INVALID"],
    ["a long key", post(JSON.stringify({ ...good, key: "k".repeat(201) })), 400, "INPUT_INVALID"],
    ["a negative budget", post(JSON.stringify({ ...good, budget: { usd: -1 } })), 400, "INPUT_INVALID"],
    ["an unknown phase", post(JSON.stringify({ ...good, pauseAfter: ["third"] })), 400, "INPUT_INVALID"],
    [
      "1,001 phases",
      post(JSON.stringify({ ...good, only: Array(1_001).fill("first") })),
      400,
      "INPUT_INVALID",
    ],
    ["9 MB", post(JSON.stringify({ ...good, brief: "x".repeat(9_000_000) })), 413, "BODY_TOO_LARGE"],
  ];
  for (const [title, answer, status, code] of refused) {
    const response = await answer;
    const problem = await problemOf(response);
    expect([title, response.status, problem.code]).toEqual([title, status, code]);
    expect(problem).toMatchObject({ status, requestId: response.headers.get("x-request-id") });
    expect(problem.detail.length).toBeLessThan(1_000);
  }
  expect((await server.get<{ total: number }>("/v1/sessions")).total).toBe(0);
  await start(server);
});

test("cuts off a body of unknown length at the limit", async () => {
  const server = await startServer();
  let sent = 0;
  let isCanceled = false;
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      sent += 1_000_000;
      controller.enqueue(new Uint8Array(1_000_000).fill(0x20));
    },
    cancel: () => {
      isCanceled = true;
    },
  });
  const init = {
    method: "POST",
    body: endless,
    duplex: "half",
    headers: { "content-type": "application/json" },
  };
  const response = await server.request("/v1/sessions", init as RequestInit);
  expect(await problemOf(response)).toMatchObject({ code: "BODY_TOO_LARGE" });
  expect(response.headers.get("connection")).toBe("close");
  expect(sent).toBeLessThan(12_000_000);
  expect(isCanceled).toBe(true);
});

test("rejects an edit with too many files or phases before reading it", async () => {
  const server = await startServer();
  const { id } = await start(server);
  const many = (value: unknown) =>
    Object.fromEntries(Array.from({ length: 1_001 }, (_, index) => [`n${index}`, value]));
  for (const edits of [{ first: { files: many("x") } }, many({ outputs: {} })])
    for (const action of ["resume", "fork"]) {
      const response = await server.post(`/v1/sessions/${id}/${action}`, { at: "first", edits });
      expect(await problemOf(response)).toMatchObject({ status: 400, code: "INPUT_INVALID" });
    }
});

test("each field that is wrong is named", async () => {
  const server = await startServer();
  const response = await server.post("/v1/sessions", { team: 1, brief: "x", budget: { tokens: 0.5 } });
  const { fields = [] } = await problemOf(response);
  expect(fields.map(({ field }) => field).sort()).toEqual(["budget.tokens", "team"]);
});

test("a key that belongs to other work is a conflict, at the field", async () => {
  const server = await startServer();
  await start(server, { key: "k" });
  const response = await server.post("/v1/sessions", { team: "quick", brief: "other work", key: "k" });
  const problem = await problemOf(response);
  expect(problem).toMatchObject({ status: 409, code: "SESSION_CONFLICT" });
  expect(problem.fields).toMatchObject([{ field: "key" }]);
});

describe("questions", () => {
  test.each([
    "/v1/sessions?limit=0",
    "/v1/sessions?limit=501",
    "/v1/sessions?limit=1e9",
    "/v1/sessions?limit=x",
    "/v1/sessions?status=nearly",
    "/v1/sessions?status=running,nearly",
    "/v1/sessions?since=yesterday",
    "/v1/sessions?cursor=x",
    "/v1/sessions?cursor=W10",
    "/v1/sessions?cursor=WyJzdGF0dXMiLDEsMV0",
    "/v1/sessions?limit=1&limit=2",
    `/v1/sessions?q=${"x".repeat(201)}`,
    "/v1/usage?by=moon",
    "/v1/usage?since=x",
    "/v1/events?after=-1",
    "/v1/events?after=1.5",
    "/v1/events?after=9999999999999999999",
  ])("%s is refused", async (path) => {
    const server = await startServer();
    expect(await problemOf(await server.request(path))).toMatchObject({ status: 400, code: "INPUT_INVALID" });
  });

  test.each([
    ["/v1/sessions/nobody", "SESSION_NOT_FOUND"],
    ["/v1/sessions/nobody/events", "SESSION_NOT_FOUND"],
    ["/v1/sessions/..%2f..%2fetc%2fpasswd", "SESSION_NOT_FOUND"],
    ["/v1/sessions/nobody/artifacts/x", "NOT_FOUND"],
    ["/v1/nowhere", "NOT_FOUND"],
    ["/v2/sessions", "NOT_FOUND"],
  ])("%s is not there", async (path, code) => {
    const server = await startServer();
    expect(await problemOf(await server.request(path))).toMatchObject({ status: 404, code });
  });

  test("a breaker that is not there cannot be reset", async () => {
    const server = await startServer();
    const response = await server.post(`/v1/breakers/${encodeURIComponent("anthropic/claude")}/reset`);
    expect(await problemOf(response)).toMatchObject({ status: 404, code: "NOT_FOUND" });
  });
});

test.each([
  [{ team: "quick" }, "brief", "It is missing. It must be text."],
  [{ team: 3, brief: "x" }, "team", "It must be text."],
  [{ team: "quick", brief: "x", colour: "red" }, "colour", "It is not a known field."],
  [{ team: "quick", brief: "x", key: "k".repeat(201) }, "key", "It must have at most 200 characters."],
  [{ team: "quick", brief: "x", budget: { tokens: -1 } }, "budget.tokens", /^It must be at least \d+\.$/],
])("a refused field says where it is and what is allowed: %o", async (sent, field, message) => {
  const server = await startServer();
  const response = await server.request("/v1/sessions", {
    method: "POST",
    body: JSON.stringify(sent),
    headers: { "content-type": "application/json" },
  });
  const problem = await problemOf(response);
  const expected = typeof message === "string" ? message : (expect.stringMatching(message) as string);
  expect(problem.fields).toEqual([{ field, message: expected }]);
  expect(problem.detail).toContain(`"${field}" in the body. It`);
});
