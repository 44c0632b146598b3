import { expect, test } from "vitest";
import type { SessionPageView } from "../../../src/server/schemas/session.ts";
import { tarGz } from "../../support/archives.ts";
import { Description } from "./description.ts";
import { quickTeam, start, startServer, type TestServer, teamOf, token, until } from "./support.ts";
import { Gate, payingTeam, reviewTeam, writingTeam } from "./teams.ts";

const failing = teamOf("calling", async ({ step }) => {
  await step("call", () => Promise.reject(Object.assign(new Error("down"), { code: "ECONNREFUSED" })), {
    dependency: "api.example",
  });
  return { summary: "called" };
});

/** A server with its description, and the answers that fit it, such as `get /v1/sessions 200`. */
async function newServer() {
  let description: Description | undefined;
  const answers = new Set<string>();
  const server = await startServer({
    onAnswer: async (method, path, response) => {
      const operation = description?.find(method, path.split("?")[0] ?? "");
      if (description === undefined || operation === undefined) throw new Error(`${path} is not described`);
      expect(await description.differences(operation, response), `${method} ${path}`).toEqual([]);
      answers.add(`${operation.name} ${response.status}`);
    },
    teams: [quickTeam, reviewTeam, payingTeam().team, writingTeam().team, failing, new Gate().team()],
    config: {
      server: { apiToken: token },
      attempts: { max: 1 },
      rounds: { max: 1 },
      breaker: { threshold: 1, cooldownMs: 3_600_000 },
    },
  });
  description = new Description(server.app);
  server.drive();
  return { server, operations: description.operations, answers };
}

/** Sends what succeeds to each action, and waits where the next one needs it. */
async function act(server: TestServer): Promise<void> {
  const statuses: string[] = [];
  const post = async (path: string, body?: object, method?: string) => {
    const answer = await server.post(path, body, method);
    statuses.push(`${answer.status} ${path}`);
    return (await answer.json().catch(() => undefined)) as SessionPageView;
  };
  const review = (await start(server, { team: "review", key: "review" })).id;
  await until(server, review, "parked");
  await post(`/v1/sessions/${review}/reject`, { note: "again", resume: true });
  await until(server, review, "parked");
  await post(`/v1/sessions/${review}/budgets`, { tokens: 5_000 }, "PATCH");
  await post(`/v1/sessions/${review}/approve`);
  await post(`/v1/sessions/${review}/resume`, { dryRun: true });
  await post(`/v1/sessions/${review}/resume`);
  await until(server, review, "completed");
  await post("/v1/sessions", { team: "review", brief: "something", key: "review" });
  await post(`/v1/sessions/${review}/phases/design`);
  await post(`/v1/sessions/${review}/fork`, { at: "build", dryRun: true });
  const fork = (await post(`/v1/sessions/${review}/fork`, { at: "design", fresh: true })).id;
  await until(server, fork, "parked");
  await post(`/v1/sessions/${fork}/cancel`);
  const gated = (await start(server, { team: "gated" })).id;
  await until(server, gated, "running");
  await post(`/v1/sessions/${gated}/pause`);

  const paying = (await start(server, { team: "paying" })).id;
  const effect = (await until(server, paying, "parked")).effects[0]?.seq;
  await post(`/v1/sessions/${paying}/steps/${effect}/settle`, { happened: true });

  const writing = (await start(server, { team: "writing" })).id;
  for (const [decision, body] of [
    ["approve", {}],
    ["reject", { note: "no" }],
    ["answer", { text: "red" }],
  ] as const) {
    const call = (await until(server, writing, "parked")).waiting[0]?.seq;
    await post(`/v1/sessions/${writing}/calls/${call}/${decision}`, { ...body, resume: true });
  }
  await until(server, writing, "completed");

  await until(server, (await start(server, { team: "calling" })).id, "parked");
  await post("/v1/breakers/api.example/reset");
  await post("/v1/users", { name: "ada", role: "viewer" });
  await post("/v1/users/ada", undefined, "DELETE");
  await post("/v1/dashboard-links");
  await post("/v1/sign-out");
  const accept = "application/json, text/event-stream";
  for (const message of [{ id: 1, method: "ping" }, { method: "notifications/initialized" }]) {
    const answer = await server.request("/mcp", {
      method: "POST",
      headers: { "content-type": "application/json", accept, "mcp-protocol-version": "2025-06-18" },
      body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    });
    statuses.push(`${answer.status} /mcp`);
  }
  const archive = tarGz([{ name: "a.txt", content: "a" }]);
  const uploaded = await server.request("/v1/uploads", {
    method: "POST",
    headers: { "content-type": "application/gzip" },
    body: new Uint8Array(archive),
  });
  statuses.push(`${uploaded.status} /v1/uploads`);
  expect(statuses.filter((status) => !status.startsWith("2"))).toEqual([]);
}

/** Reads every route that has no body, about a session with files, in each of its formats. */
async function look(server: TestServer, paths: readonly string[]): Promise<void> {
  const [file] = (await server.get<SessionPageView>("/v1/sessions/review")).artifacts;
  const values = { id: "review", phase: "design", persona: "architect", sha256: file?.sha256 ?? "" };
  for (const path of paths) {
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: keyof typeof values) => values[name]);
    for (const accept of ["*/*", "application/json"]) {
      const answer = await server.request(filled, { headers: { accept } });
      expect(answer.status, filled).toBe(200);
      await answer.body?.cancel();
    }
  }
  for (const query of ["usage?format=csv", "sessions/review/archive?format=zip"])
    expect((await server.request(`/v1/${query}`)).status).toBe(200);
}

test("every route answers as the document says: each status of success, no session of that name, and a wrong token", async () => {
  const { server, operations, answers } = await newServer();
  await act(server);
  const read = operations.filter(({ method }) => method === "GET");
  await look(
    server,
    read.map(({ path }) => path),
  );
  const open = ["get /healthz"];
  for (const { name, method, path } of operations) {
    const none = path.replaceAll("{seq}", "1").replaceAll(/\{\w+\}/g, "none");
    const headers = { authorization: "Bearer wrong" };
    const status = open.includes(name) ? 200 : 401;
    expect((await server.request(none, { method, headers })).status, name).toBe(status);
    if (!path.includes("{id}")) continue;
    const answer = method === "GET" ? await server.request(none) : await server.post(none, {}, method);
    expect([400, 404], name).toContain(answer.status);
  }

  const successes = operations.flatMap(({ name, responses }) =>
    Object.keys(responses).flatMap((status) => (status.startsWith("2") ? [`${name} ${status}`] : [])),
  );
  expect(successes.length).toBeGreaterThan(operations.length);
  expect(successes.filter((answer) => !answers.has(answer))).toEqual([]);
});
