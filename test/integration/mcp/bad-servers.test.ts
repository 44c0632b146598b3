import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { Artifacts } from "../../../src/store/artifacts.ts";
import type { McpDefinition } from "../../../src/team/definition/mcp-keys.ts";
import { describeSandbox } from "../../../src/workspace/sandbox.ts";
import { answerText, loopbackMcp } from "./loopback-mcp.ts";
import { type Call, scriptOf, session, temporaryFolder } from "./session.ts";

const sandbox = await describeSandbox();
const callSpeak: readonly Call[] = [["odd_speak", {}]];

/** The outcome of a call of the tool `speak`, whose answer the test writes. */
async function spoken(
  answer: (params: unknown, response: ServerResponse) => unknown,
  { repeatable = ["*"], ...definition }: { readonly repeatable?: string[]; readonly timeoutMs?: number } = {},
) {
  const server = await loopbackMcp({ tools: ["speak"], answers: { "tools/call": answer } });
  const called = await session(
    { odd: { url: server.url, repeatable, ...definition } },
    ["odd/*"],
    callSpeak,
    {
      attempts: { max: 1 },
      rounds: { max: 1 },
    },
  );
  return { ...called, server };
}

const wholeText = async (stateDir: string, hash: string | undefined): Promise<string> =>
  Buffer.from(await new Artifacts(stateDir).get(hash ?? "")).toString();

/** As fast as it is read. */
function endless(response: ServerResponse, begin: string): void {
  const part = "x".repeat(64 * 1024);
  const fill = (): void => {
    while (!response.destroyed && response.write(part));
  };
  response.on("drain", fill);
  response.write(begin);
  fill();
}

describe("an answer of a server", () => {
  test("that is long is shown to its beginning and kept whole, with its secrets masked in both", async () => {
    const secret = `ghp_${"A1b2C3d4".repeat(5)}`;
    const text = `${secret} ${"word ".repeat(40_000)}the end ${secret}`;
    const { result, outputs, place } = await spoken(() => answerText(text));
    expect(result.status).toBe("completed");
    const [{ output = "", artifact } = {}] = outputs;
    expect(output.length).toBeLessThan(66 * 1024);
    expect(output).toContain("[cut: the result has");
    const kept = await wholeText(place.stateDir, artifact);
    expect(kept).toContain("the end");
    expect(output + kept).not.toContain(secret);
  });

  test("without an end is not read, and the model is told so", async () => {
    const json = await spoken((_, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      endless(response, '{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"');
    });
    expect(json.result.status).toBe("completed");
    expect(json.outputs[0]?.output).toContain("The server answered with more than 16 MiB");
    const stream = await spoken((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      endless(response, "data: ");
    });
    expect(stream.outputs[0]?.output).toContain("The server answered with more than 16 MiB");
    expect(stream.server.calls).toHaveLength(1);
  });

  test("that is binary is described", async () => {
    const data = Buffer.alloc(3_000, 7).toString("base64");
    const { outputs } = await spoken(() => ({
      content: [
        { type: "image", data, mimeType: "image/png" },
        { type: "resource", resource: { uri: "file:///a.bin", blob: data } },
      ],
    }));
    expect(outputs[0]?.output).toBe(
      "[image image/png: 4000 characters of base64]\n[file:///a.bin: binary data, 4000 characters of base64]",
    );
  });

  test("that is an error with status 200 is an answer, also of a call that must not be repeated", async () => {
    const { result, outputs, server } = await spoken(
      () => ({ error: { code: -32_000, message: "the quota is used up" } }),
      { repeatable: [] },
    );
    expect(result.status).toBe("completed");
    expect(outputs[0]?.output).toBe("The server reports an error: the quota is used up");
    expect(server.calls).toHaveLength(1);
  });
});

describe("what is no answer of a server", () => {
  const faults: [string, (response: ServerResponse) => void][] = [
    ["status 500", (response) => void response.writeHead(500).end("broken")],
    [
      "a page of HTML",
      (response) => void response.writeHead(200, { "content-type": "text/html" }).end("<p>"),
    ],
    [
      "half of a message",
      (response) => void response.writeHead(200, { "content-type": "application/json" }).end('{"jsonrpc":'),
    ],
    ["a broken connection", (response) => void response.destroy()],
    [
      "a stream that ends early",
      (response) => void response.writeHead(200, { "content-type": "text/event-stream" }).end(": wait\n\n"),
    ],
    ["silence", () => {}],
  ];

  test.each(faults)("%s, is an outage: the call is made again", async (_, fault) => {
    let isBroken = true;
    const answer = (__: unknown, response: ServerResponse): object | undefined => {
      if (!isBroken) return answerText("at last");
      isBroken = false;
      fault(response);
      return undefined;
    };
    const server = await loopbackMcp({ tools: ["speak"], answers: { "tools/call": answer } });
    const definition = { url: server.url, repeatable: ["*"], timeoutMs: 4_000 };
    const { result, outputs } = await session({ odd: definition }, ["odd/*"], callSpeak);
    expect(result.status).toBe("completed");
    expect(outputs.at(-1)?.output).toBe("at last");
    expect(server.calls).toHaveLength(2);
  });

  test.each(faults)(
    "%s, leaves the outcome of a call that must not be repeated to a person",
    async (_, fault) => {
      const { result, server, maestro, started } = await spoken(
        (__, response) => {
          fault(response);
        },
        { repeatable: [], timeoutMs: 4_000 },
      );
      expect(result).toMatchObject({ status: "parked", reason: "unknown" });
      const [waiting] = (await maestro.show(started.id)).waiting;
      await maestro.settle(started.id, waiting?.seq ?? 0, { happened: true, result: "it was sent" });
      const resumed = await (await maestro.resume(started.id)).result();
      expect(resumed.status).toBe("completed");
      expect(server.calls).toHaveLength(1);
    },
  );

  test("a refusal of the headers, is an error that names the server", async () => {
    const server = await loopbackMcp({
      answers: { "tools/list": (_, response) => void response.writeHead(401).end() },
    });
    const { result } = await session({ odd: { url: server.url } }, ["odd/*"], [], {
      attempts: { max: 1 },
      rounds: { max: 1 },
    });
    expect(JSON.stringify(result)).toContain("The MCP server odd refuses to answer (HTTP 401).");
  });
});

test("all pages of a server's resources are listed", async () => {
  const page = (cursor: unknown): number => Number(cursor ?? 0);
  const server = await loopbackMcp({
    answers: {
      "resources/list": ({ cursor }) => ({
        resources: [{ uri: `memo://${page(cursor)}`, name: `memo ${page(cursor)}` }],
        ...(page(cursor) < 3 && { nextCursor: String(page(cursor) + 1) }),
      }),
    },
  });
  const { outputs } = await session({ odd: { url: server.url } }, ["odd/*"], [["odd_read_resource", {}]]);
  expect(outputs[0]?.output).toBe("memo://0 memo 0\nmemo://1 memo 1\nmemo://2 memo 2\nmemo://3 memo 3");
});

test("a persona may have a server of its own, in place of the team's with that name", async () => {
  const [ofTeam, ofPersona] = await Promise.all(
    ["team", "persona"].map((name) =>
      loopbackMcp({ tools: ["speak"], answers: { "tools/call": () => answerText(`of the ${name}`) } }),
    ),
  );
  const { outputs } = await session({ odd: { url: ofTeam?.url ?? "" } }, ["odd/*"], callSpeak, {
    persona: { mcp: { odd: { url: ofPersona?.url ?? "" } } },
  });
  expect(outputs[0]?.output).toBe("of the persona");
  expect(ofTeam?.calls).toEqual([]);
});

describe.skipIf(sandbox.kind === "none")("a server that is a program", () => {
  test("whose answer has no end is stopped, and the model is told so", async () => {
    const program = join(temporaryFolder(), "endless.mjs");
    writeFileSync(program, markingServer('process.stdout.write("x".repeat(20 * 1024 * 1024))'));
    const { result, outputs } = await session(
      { odd: { command: ["node", program], network: false, repeatable: ["*"] } },
      ["odd/*"],
      callSpeak,
    );
    expect(result.status).toBe("completed");
    expect(outputs[0]?.output).toContain("The server answered with more than 16 MiB");
  });

  test("is not called again when Maestro is killed during a call that must not be repeated", async () => {
    const folder = temporaryFolder();
    const marks = join(folder, "marks");
    mkdirSync(marks);
    // As root, programs run as another user.
    chmodSync(marks, 0o777);
    const program = join(folder, "silent.mjs");
    writeFileSync(program, markingServer(""));
    const script = scriptOf(folder, callSpeak);
    const live = () =>
      oneLife(folder, script, {
        odd: { command: ["node", program, marks], network: false, writable: [marks] },
      });
    const first = live();
    await expect.poll(() => readdirSync(marks)).toHaveLength(1);
    first.child.kill("SIGKILL");
    await first.ended;
    expect(await live().ended).toContain("parked");
    expect(readdirSync(marks)).toHaveLength(1);
  });

  test.each([
    ["must not be repeated", []],
    ["may be repeated", ["*"]],
  ])("sees a call that %s once when Maestro is killed after its answer", async (_, repeatable) => {
    const folder = temporaryFolder();
    const marks = join(folder, "marks");
    mkdirSync(marks);
    chmodSync(marks, 0o777);
    const program = join(folder, "answering.mjs");
    writeFileSync(program, markingServer(answerOk));
    const servers = {
      odd: { command: ["node", program, marks], network: false, writable: [marks], repeatable },
    };
    await killAfterAnswer(folder, servers);
    expect(readdirSync(marks)).toHaveLength(2);
  });
});

test.each([
  ["must not be repeated", undefined],
  ["only reads", { readOnlyHint: true }],
])(
  "a server with an address sees a call that %s once when Maestro is killed after its answer",
  async (_, annotations) => {
    const tool = { name: "speak", inputSchema: { type: "object" }, ...(annotations && { annotations }) };
    const server = await loopbackMcp({ tools: [tool], answers: { "tools/call": () => answerText("ok") } });
    await killAfterAnswer(temporaryFolder(), { odd: { url: server.url } });
    expect(server.calls.map((call) => call.arguments)).toEqual([{ n: 1 }, { n: 2 }]);
  },
);

/** Two calls; Maestro is killed when the first is on record, and a second process completes the session. */
async function killAfterAnswer(folder: string, servers: McpDefinition): Promise<void> {
  const script = scriptOf(folder, [
    ["odd_speak", { n: 1 }],
    ["odd_speak", { n: 2 }],
  ]);
  const first = oneLife(folder, script, servers, "odd_speak");
  expect(await first.ended).not.toContain("completed");
  expect(first.child.signalCode).toBe("SIGKILL");
  expect(await oneLife(folder, script, servers).ended).toContain("completed");
}

/** A process that drives the session. `killAt`: it is killed when it says this. */
function oneLife(folder: string, script: string, servers: McpDefinition, killAt?: string) {
  const args = [join(import.meta.dirname, "one-life.ts"), join(folder, "state"), script];
  const child = spawn(process.execPath, [...args, JSON.stringify(servers)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let said = "";
  child.stdout.on("data", (chunk: Buffer) => {
    said += chunk.toString();
    if (killAt !== undefined && said.includes(killAt)) child.kill("SIGKILL");
  });
  const ended = new Promise<string>((resolve) => child.once("close", () => resolve(said)));
  return { child, ended };
}

const answerOk =
  'process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text: "ok" }] } }) + "\\n")';

/** A server whose tool leaves a mark for each call, and answers by this code alone. */
const markingServer = (answer: string): string => `
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
const marks = process.argv[2];
const answers = {
  initialize: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "odd", version: "1" } },
  "tools/list": { tools: [{ name: "speak", inputSchema: { type: "object" } }] },
};
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  if (method === "tools/call") {
    if (marks) writeFileSync(marks + "/" + randomUUID(), "called");
    ${answer};
    return;
  }
  const result = answers[method];
  const error = { code: -32601, message: "no such method" };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...(result ? { result } : { error }) }) + "\\n");
});
`;
