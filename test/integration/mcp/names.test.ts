import { expect, test } from "vitest";
import { sentCalls } from "../../support/sent-calls.ts";
import { answerText, loopbackMcp } from "./loopback-mcp.ts";
import { session } from "./session.ts";

/** A server that answers each call with the name of the tool that it was asked for. */
const naming = (tools: readonly string[]) =>
  loopbackMcp({
    tools,
    answers: {
      "tools/call": ({ name }) => answerText(`answered by ${name as string}`),
      "resources/list": () => ({ resources: [{ uri: "memo://one", name: "one" }] }),
    },
  });

type Called = Awaited<ReturnType<typeof session>>;

async function offeredNames({ place, result }: Called): Promise<readonly string[]> {
  const [first] = await sentCalls(place.stateDir, result.id);
  const { tools = [] } = first ?? {};
  return (tools as readonly { readonly name: string }[]).map(({ name }) => name);
}

/** Calls the tool that was offered under a name like this. */
async function callOffered(
  pattern: RegExp,
  args: object,
  start: (calls: readonly [string, object][]) => Promise<Called>,
): Promise<Called> {
  const found = (await offeredNames(await start([]))).filter((name) => pattern.test(name));
  expect(found).toHaveLength(1);
  return start([[found[0] as string, args]]);
}

test("a server's tool never takes the place of a built-in tool of the same name", async () => {
  const server = await naming(["file"]);
  const tools = ["read_file", "read/*"] as const;
  const start = (calls: readonly [string, object][]) => session({ read: { url: server.url } }, tools, calls);

  const builtIn = await start([["read_file", { path: "missing.md" }]]);
  expect(builtIn.outputs[0]?.message).toContain('There is no file "missing.md"');
  expect(server.calls).toHaveLength(0);

  const ofServer = await callOffered(/^read_file_/, { path: "missing.md" }, start);
  expect(ofServer.outputs[0]?.output).toBe("answered by file");
  expect(server.calls).toEqual([{ name: "file", arguments: { path: "missing.md" } }]);
});

test("the policy for files does not judge a server's tool with the name of a built-in tool", async () => {
  const server = await naming(["file"]);
  const { outputs } = await callOffered(/^write_file/, { path: "src/a.ts" }, (calls) =>
    session({ write: { url: server.url } }, ["write/*"], calls, {
      persona: { policy: { write: ["docs/**"] } },
    }),
  );
  expect(outputs[0]?.output).toBe("answered by file");
});

test("a server's tool never takes the place of a tool of the team's own", async () => {
  const server = await naming(["create"]);
  const own = {
    description: "Creates.",
    inputSchema: { type: "object" },
    execute: () => "answered by the team",
    repeatable: true,
  };
  const start = (calls: readonly [string, object][]) =>
    session({ github: { url: server.url } }, { github_create: own, "github/*": true }, calls);
  const ofTeam = await start([["github_create", {}]]);
  expect(ofTeam.outputs[0]?.output).toBe("answered by the team");
  const ofServer = await callOffered(/^github_create_/, {}, start);
  expect(ofServer.outputs[0]?.output).toBe("answered by create");
});

test("a server may have a tool read_resource of its own beside the one that reads its resources", async () => {
  const server = await naming(["read_resource"]);
  const start = (calls: readonly [string, object][]) =>
    session({ memo: { url: server.url } }, ["memo/*"], calls);
  const own = await start([["memo_read_resource", {}]]);
  expect(own.outputs[0]?.output).toBe("answered by read_resource");
  const resources = await start([["memo_read_mcp_resource", {}]]);
  expect(resources.outputs[0]?.output).toBe("memo://one one");
});

test("every tool has a name of its own, however alike the names of a server are", async () => {
  const long = "x".repeat(70);
  const server = await naming(["a.b", "a_b", "a b", "a_b", `${long}1`, `${long}2`]);
  const called = await session({ odd: { url: server.url } }, ["odd/*"], []);
  const names = (await offeredNames(called)).filter((name) => name !== "submit");
  expect(new Set(names).size).toBe(names.length);
  expect(names.every((name) => /^[A-Za-z0-9_-]{1,64}$/.test(name))).toBe(true);
  // Five tools, for the server lists one of them twice, and its resources.
  expect(names).toHaveLength(6);
});
