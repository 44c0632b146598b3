import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { defineTeam, InputInvalid, open, persona, phase } from "../../src/index.ts";
import { calls, ModelHive } from "../support/model-hive.ts";

const team = (model: string) =>
  defineTeam("asking", {
    phases: [phase("only", { personas: [persona("asked", { instructions: "Answer.", model })] })],
  });
const submits = () => calls("submit", { summary: "done" });

let packages: string;

/** The packages are installed for this file alone, outside of Maestro's own folder. */
beforeAll(() => {
  packages = mkdtempSync(join(tmpdir(), "maestro-provider-packages-"));
  for (const file of ["package.json", "package-lock.json"])
    copyFileSync(join(import.meta.dirname, "providers", file), join(packages, file));
  execFileSync("npm", ["ci", "--no-audit", "--no-fund"], { cwd: packages, stdio: "ignore" });
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
