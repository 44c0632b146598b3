import { expect, test } from "vitest";
import { addUser, roles } from "../../../src/api/people.ts";
import { tools } from "../../../src/server/mcp/mcp-server.ts";
import { startServer, type TestServer, token } from "./support.ts";
import { reviewTeam } from "./teams.ts";

interface Result {
  readonly content: readonly { readonly text: string }[];
  readonly isError?: boolean;
}

let id = 0;

async function rpc<T>(server: TestServer, method: string, params: object, secret = token): Promise<T> {
  id += 1;
  const answer = await server.request("/mcp", {
    method: "POST",
    headers: {
      authorization: `Bearer ${secret}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2025-06-18",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id, method, params }),
  });
  const text = await answer.text();
  expect(answer.status, text).toBe(200);
  const data = /^data: (.*)$/m.exec(text)?.[1] ?? text;
  return (JSON.parse(data) as { result: T }).result;
}

const callTool = (server: TestServer, name: string, args: object, secret?: string) =>
  rpc<Result>(server, "tools/call", { name, arguments: args }, secret);

const textOf = ({ content }: Result): string => content.map(({ text }) => text).join("\n");

test("the tools that are promised are offered, each with a description and a schema of an object", async () => {
  const server = await startServer();
  const listed = await rpc<{ tools: { name: string; description: string; inputSchema: { type: string } }[] }>(
    server,
    "tools/list",
    {},
  );
  expect(listed.tools.map(({ name }) => name).sort()).toEqual(
    (
      "answer approve diff files fork list_sessions reject resume settle show_session start_session transcript " +
      "usage watch_session"
    ).split(" "),
  );
  for (const { description, inputSchema } of listed.tools) {
    expect(description).not.toBe("");
    expect(inputSchema.type).toBe("object");
  }
});

test("a client starts a team once with its key, waits, approves, and reads what was made", async () => {
  const server = await startServer({ teams: [reviewTeam] });
  server.drive();
  const start = { team: "review", brief: "a parking app", key: "parking" };
  const first = JSON.parse(textOf(await callTool(server, "start_session", start))) as { id: string };
  const again = JSON.parse(textOf(await callTool(server, "start_session", start))) as { id: string };
  expect(again.id).toBe(first.id);
  const parked = await callTool(server, "watch_session", { session: "parking", seconds: 60 });
  expect(JSON.parse(textOf(parked))).toMatchObject({ status: "parked", reason: "review" });
  await callTool(server, "approve", { session: "parking", note: "good" });
  const done = await callTool(server, "watch_session", { session: "parking", seconds: 60 });
  expect(JSON.parse(textOf(done))).toMatchObject({ status: "completed", files: 2 });
  expect(textOf(await callTool(server, "diff", { session: "parking" }))).toContain("+a parking app");
  expect(textOf(await callTool(server, "files", { session: "parking" }))).toContain("docs/design.md");
  const file = { session: "parking", path: "docs/design.md" };
  expect(textOf(await callTool(server, "files", file))).toBe("# Design\na parking app\n");
  expect(textOf(await callTool(server, "list_sessions", {}))).toContain('"key": "parking"');
  expect(textOf(await callTool(server, "usage", { session: "parking" }))).toContain("costUsd");
  expect(textOf(await callTool(server, "transcript", { session: "parking" }))).toContain("good");
  const planned = await callTool(server, "fork", { session: "parking", at: "build", fresh: true });
  expect(planned.isError).toBeUndefined();
  expect((await server.get<{ total: number }>("/v1/sessions")).total, "a fork is a dry run first").toBe(1);
  await callTool(server, "fork", { session: "parking", at: "build", fresh: true, confirm: true });
  expect((await server.get<{ total: number }>("/v1/sessions")).total).toBe(2);
});

test("a session cannot be started without a key, and a refusal says what to do", async () => {
  const server = await startServer();
  const without = await callTool(server, "start_session", { team: "quick", brief: "b" });
  expect(without.isError).toBe(true);
  expect(textOf(without)).toContain("key");
  const missing = await callTool(server, "show_session", { session: "nosuch" });
  expect(missing.isError).toBe(true);
  expect(textOf(missing)).toContain("(SESSION_NOT_FOUND)");
  expect((await server.get<{ total: number }>("/v1/sessions")).total).toBe(0);
});

/** Arguments that each tool accepts. */
const samples: Readonly<Record<string, object>> = {
  start_session: { team: "quick", brief: "b", key: "k" },
  answer: { session: "none", question: 1, text: "t" },
  settle: { session: "none", step: 1, happened: true },
  reject: { session: "none", note: "n" },
  fork: { session: "none", at: "first", confirm: true },
};

test.each(roles)("roles hold for every tool: %s", async (role) => {
  const server = await startServer();
  const person = { name: "eve", role, kind: "token" } as const;
  const { secret } = await addUser(server.maestro.access, person, Date.now());
  for (const { name, isReadOnly } of tools) {
    const result = await callTool(server, name, samples[name] ?? { session: "none", seconds: 0 }, secret);
    const isRefused = textOf(result).includes("(ROLE_NOT_ALLOWED)");
    expect(isRefused, `${role} calls ${name}: ${textOf(result)}`).toBe(role === "viewer" && !isReadOnly);
  }
  const { total } = await server.get<{ total: number }>("/v1/sessions");
  expect(total).toBe(role === "viewer" ? 0 : 1);
});

test("needs a token, like every route", async () => {
  const server = await startServer();
  const answer = await server.request("/mcp", { method: "POST", headers: { authorization: "Bearer wrong" } });
  expect(answer.status).toBe(401);
});
