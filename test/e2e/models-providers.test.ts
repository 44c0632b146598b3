import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { defineTeam, InputInvalid, open, persona, phase } from "../../src/index.ts";
import { resolveModel } from "../../src/personas/model/resolve-model.ts";
import { calls, ModelHive } from "../support/model-hive.ts";

const team = (model: string) =>
  defineTeam("asking", {
    phases: [phase("only", { personas: [persona("asked", { instructions: "Answer.", model })] })],
  });
const submits = () => calls("submit", { summary: "done" });

async function listen(handle: RequestListener): Promise<string> {
  const server = createServer(handle).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

let packages: string;

/** The packages are installed for this file alone, outside of Maestro's own folder. */
beforeAll(() => {
  packages = mkdtempSync(join(tmpdir(), "maestro-provider-packages-"));
  for (const file of ["package.json", "package-lock.json"])
    copyFileSync(join(import.meta.dirname, "providers", file), join(packages, file));
  execFileSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], {
    cwd: packages,
    stdio: "ignore",
  });
}, 180_000);

afterAll(() => rmSync(packages, { recursive: true, force: true }));

test.each([
  ["groq", "llama-3.3-70b-versatile", "GROQ"],
  ["mistral", "mistral-large-latest", "MISTRAL"],
  ["deepseek", "deepseek-chat", "DEEPSEEK"],
])(
  "an installed package of %s is found in the folder that the configuration names",
  async (name, id, prefix) => {
    const hive = await ModelHive.open(submits, { providersFrom: packages });
    vi.stubEnv(`${prefix}_API_KEY`, hive.models.server.env["OPENAI_COMPATIBLE_API_KEY"] ?? "");
    vi.stubEnv(`${prefix}_BASE_URL`, hive.models.server.env["OPENAI_COMPATIBLE_BASE_URL"] ?? "");
    const { result, view } = await hive.run(team(`${name}/${id}`));
    expect(result).toMatchObject({ status: "completed" });
    expect(hive.models.log).toHaveLength(1);
    expect(view.usage).toMatchObject({ calls: 1, inputTokens: 1_001, outputTokens: 51 });
  },
);

/** As Azure, which has its key in a header of its own. */
async function azureBefore(target: string): Promise<string> {
  const relay = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const answer = await fetch(`${target}${incoming.url?.replace(/^\/openai/, "/v1")}`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        authorization: `Bearer ${String(incoming.headers["api-key"])}`,
      },
      body: await text(incoming),
    });
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" });
    response.end(await answer.text());
  };
  return listen((incoming, response) => void relay(incoming, response));
}

type Variables = (server: {
  readonly url: string;
  readonly key: string;
}) => Record<string, string> | Promise<Record<string, string>>;

const speaksChat =
  (prefix: string): Variables =>
  ({ url, key }) => ({ [`${prefix}_API_KEY`]: key, [`${prefix}_BASE_URL`]: `${url}/v1` });

test.each<[string, string, Variables]>([
  ["openrouter", "anthropic/claude-sonnet-4.5", speaksChat("OPENROUTER")],
  ["xai", "grok-4", speaksChat("XAI")],
  ["togetherai", "meta-llama/Llama-3.3-70B-Instruct-Turbo", speaksChat("TOGETHER")],
  ["fireworks", "accounts/fireworks/models/deepseek-v3p2", speaksChat("FIREWORKS")],
  ["cerebras", "llama-3.3-70b", speaksChat("CEREBRAS")],
  [
    "azure",
    "gpt-5",
    async ({ url, key }) => ({ AZURE_API_KEY: key, AZURE_BASE_URL: `${await azureBefore(url)}/openai` }),
  ],
  [
    "vertex",
    "gemini-2.5-pro",
    ({ url, key }) => ({
      GOOGLE_VERTEX_PROJECT: "project",
      GOOGLE_VERTEX_LOCATION: "europe-west1",
      GOOGLE_VERTEX_API_KEY: key,
      GOOGLE_VERTEX_BASE_URL: `${url}/v1beta`,
    }),
  ],
])(
  "the installed package of %s does the work of a persona, and its calls are priced",
  async (name, id, variables) => {
    const hive = await ModelHive.open(submits, { providersFrom: packages });
    const { url, env } = hive.models.server;
    const set = await variables({ url, key: env["OPENAI_COMPATIBLE_API_KEY"] ?? "" });
    for (const [variable, value] of Object.entries(set)) vi.stubEnv(variable, value);
    const { result, view } = await hive.run(team(`${name}/${id}`));
    expect(result).toMatchObject({ status: "completed" });
    expect(hive.models.log).toHaveLength(1);
    expect(view.usage).toMatchObject({ calls: 1, inputTokens: 1_001, outputTokens: 51 });
    expect(view.usage.costUsd).toBeGreaterThan(0);
    expect(view.usage.prices).toEqual([expect.stringMatching(/^genai-prices@/)]);
  },
);

/** Protocols of their own, or no tools: one answer as a whole. */
test.each([
  [
    "bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0",
    "/model/anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse",
    (url: string) => ({
      AWS_REGION: "eu-west-1",
      AWS_BEARER_TOKEN_BEDROCK: "key-0123456789",
      BEDROCK_BASE_URL: url,
    }),
    /^Bearer key-0123456789$/,
    {
      output: { message: { role: "assistant", content: [{ text: "hi" }] } },
      stopReason: "end_turn",
      usage: { inputTokens: 11, outputTokens: 2, totalTokens: 13 },
    },
  ],
  [
    "bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0",
    "/model/anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse",
    (url: string) => ({
      AWS_REGION: "eu-west-1",
      AWS_ACCESS_KEY_ID: "id-0123456789",
      AWS_SECRET_ACCESS_KEY: "secret-0123456789",
      BEDROCK_BASE_URL: url,
    }),
    /^AWS4-HMAC-SHA256 Credential=id-0123456789\/\d{8}\/eu-west-1\/bedrock\//,
    {
      output: { message: { role: "assistant", content: [{ text: "hi" }] } },
      stopReason: "end_turn",
      usage: { inputTokens: 11, outputTokens: 2, totalTokens: 13 },
    },
  ],
  [
    "cohere/command-a-03-2025",
    "/chat",
    (url: string) => ({ COHERE_API_KEY: "key-0123456789", COHERE_BASE_URL: url }),
    /^Bearer key-0123456789$/,
    {
      generation_id: "g",
      message: { role: "assistant", content: [{ type: "text", text: "hi" }] },
      finish_reason: "COMPLETE",
      usage: {
        billed_units: { input_tokens: 11, output_tokens: 2 },
        tokens: { input_tokens: 11, output_tokens: 2 },
      },
    },
  ],
  [
    "perplexity/sonar-pro",
    "/chat/completions",
    (url: string) => ({ PERPLEXITY_API_KEY: "key-0123456789", PERPLEXITY_BASE_URL: url }),
    /^Bearer key-0123456789$/,
    {
      id: "p",
      created: 1,
      model: "sonar-pro",
      choices: [{ message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 11, completion_tokens: 2, total_tokens: 13 },
    },
  ],
])(
  "the installed package behind %s asks its address with its key, and its answer is read",
  async (name, path, variables, key, answer) => {
    const asked: [string | undefined, string | undefined][] = [];
    const url = await listen((incoming, response) => {
      asked.push([incoming.url, incoming.headers.authorization]);
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
    });
    const resolved = await resolveModel(name, { env: variables(url), folders: [packages] });
    const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text: "Hello?" }] }];
    const { content, usage } = await resolved.model.doGenerate({ prompt });
    expect(resolved.name).toBe(name);
    expect(asked).toEqual([[path, expect.stringMatching(key)]]);
    expect(content).toMatchObject([{ type: "text", text: "hi" }]);
    expect([usage.inputTokens.total, usage.outputTokens.total]).toEqual([11, 2]);
  },
);

test("a package that is not installed is an error with the command that installs it", async () => {
  const hive = await ModelHive.open(submits);
  vi.stubEnv("COHERE_API_KEY", "key-for-tests-0123456789");
  const { result } = await hive.run(team("cohere/command-a"));
  expect(result.error?.message).toContain("@ai-sdk/cohere, which is not installed");
  expect(JSON.stringify(result.error?.details)).toContain("npm install @ai-sdk/cohere");
});

test("several OpenAI-compatible servers have names, and a key goes only to the server that names its variable", async () => {
  const hive = await ModelHive.open(submits);
  const { OPENAI_COMPATIBLE_BASE_URL: baseUrl = "", OPENAI_COMPATIBLE_API_KEY: key = "" } =
    hive.models.server.env;
  vi.stubEnv("FIRST_KEY", key);
  const maestro = await open({
    stateDir: join(hive.stateDir, "..", "named"),
    servers: { first: { baseUrl, keyVariable: "FIRST_KEY" }, second: { baseUrl } },
  });
  const ends: string[] = [];
  for (const name of ["first", "second"]) {
    const session = await maestro.start(team(`${name}/llama`), { brief: "Do it." });
    ends.push((await session.result()).status);
  }
  await maestro.close();
  // The server refuses a call without its key.
  expect(ends).toEqual(["completed", "parked"]);
  const keys = hive.models.server.requests.map(({ headers }) => headers["authorization"]);
  expect(keys).toEqual([`Bearer ${key}`, undefined]);
});

const answering = (modelId: string) => ({
  specificationVersion: "v4",
  provider: "anything",
  modelId,
  supportedUrls: {},
  doGenerate: () => Promise.reject(new Error("not asked")),
  doStream: async () => ({
    stream: ReadableStream.from([
      { type: "stream-start", warnings: [] },
      { type: "tool-call", toolCallId: "a", toolName: "submit", input: '{"summary":"done"}' },
      {
        type: "finish",
        finishReason: { unified: "tool-calls", raw: "tool_calls" },
        usage: {
          inputTokens: { total: 900, noCache: 900, cacheRead: 0, cacheWrite: 0 },
          outputTokens: { total: 20, text: 20, reasoning: 0 },
        },
      },
    ]),
  }),
});

test("a provider of the program is called by its own name", async () => {
  const asked: string[] = [];
  const hive = await ModelHive.open(submits, {
    providers: {
      acme: (id) => {
        asked.push(id);
        return answering(id);
      },
    },
  });
  const { result } = await hive.run(team("acme/large"));
  expect(result.status).toBe("completed");
  expect(asked).toContain("large");
  const { rows } = await hive.maestro.usage({ by: "model", session: result.id });
  expect(JSON.stringify(rows)).toContain("acme/large");
});

test("a provider that gives no model, has a taken name or is no function is an error that says so", async () => {
  const hive = await ModelHive.open(submits, { providers: { acme: () => ({ modelId: "x" }) } });
  const { result } = await hive.run(team("acme/large"));
  expect(result.error?.message).toContain(
    "is not a language model of the AI SDK: specificationVersion, provider, doGenerate, doStream missing",
  );
  await expect(open({ providers: { openai: answering } })).rejects.toThrow(InputInvalid);
  await expect(open({ providers: { acme: 5 as never } })).rejects.toThrow("it is not a function");
});
