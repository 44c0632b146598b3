import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ManualClock } from "../../../src/domain/manual-clock.ts";
import { defineTeam, InputInvalid, type PersonaContext, persona, phase } from "../../../src/index.ts";
import { durableModel } from "../../../src/run/durable-model-api.ts";
import { TeamPlace } from "./place.ts";

const model = {
  specificationVersion: "v4" as const,
  provider: "somebody.chat",
  modelId: "large",
  supportedUrls: {},
  doGenerate: () => Promise.reject(new Error("not asked here")),
  doStream: () => Promise.reject(new Error("not asked here")),
};

test("a durable model without the context of a running persona is refused at once, with advice", () => {
  const made = () => durableModel(model, {} as PersonaContext);
  expect(made).toThrow(InputInvalid);
  expect(made).toThrow(/context of a running persona/);
  expect(() => durableModel("gpt-5" as never, {} as PersonaContext)).toThrow(/not its name/);
});

test("an answer without streaming may take longer than an attempt may make no progress", async () => {
  const place = new TeamPlace();
  const clock = new ManualClock();
  const limitMs = 60_000;
  let calls = 0;
  const slow = {
    ...model,
    doGenerate: async () => {
      calls += 1;
      await clock.advance(10 * limitMs);
      const tokens = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
      return {
        content: [{ type: "text", text: "at last" }],
        finishReason: { unified: "stop", raw: undefined },
        usage: tokens,
        warnings: [],
      };
    },
  } as unknown as Parameters<typeof durableModel>[0];
  const run = async (context: PersonaContext) => {
    const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text: "?" }] }];
    const { content } = await durableModel(slow, context).doGenerate({ prompt });
    return { summary: JSON.stringify(content) };
  };
  const team = defineTeam("own", { phases: [phase("only", { personas: [persona("agent", { run })] })] });
  const maestro = await place.open({ clock, attempts: { max: 1, timeoutMs: limitMs } });
  const session = await maestro.start(team, { brief: "x" });
  const { status, results } = await session.result();
  expect([status, results["only"]?.["agent"]?.summary]).toEqual([
    "completed",
    expect.stringContaining("at last"),
  ]);
  expect(calls).toBe(1);
});

test("a key that only the code knows reaches neither the result nor the disk when the server repeats it", async () => {
  const place = new TeamPlace();
  // It looks like no known kind of key, and no variable of the environment has it.
  const key = ["corp", "4f9a8b7c6d5e"].join("");
  const strict = {
    ...model,
    doGenerate: () =>
      Promise.reject(
        Object.assign(new Error(`Key ${key} is not valid.`), { statusCode: 401, data: { key } }),
      ),
  };
  const run = async (context: PersonaContext) => {
    const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text: "?" }] }];
    await durableModel(strict, context, { secrets: [key] }).doGenerate({ prompt });
    return { summary: "never" };
  };
  const team = defineTeam("own", { phases: [phase("only", { personas: [persona("agent", { run })] })] });
  const maestro = await place.open();
  const session = await maestro.start(team, { brief: "x" });
  const told = JSON.stringify([await session.result(), await maestro.show(session.id), place.events]);
  await maestro.close();
  expect(told).toContain("Key [redacted] is not valid.");
  expect(told).not.toContain(key);
  const files = readdirSync(place.stateDir, { recursive: true, encoding: "utf8" })
    .map((path) => join(place.stateDir, path))
    .filter((path) => statSync(path).isFile());
  expect(files.some((path) => readFileSync(path, "latin1").includes("is not valid"))).toBe(true);
  expect(files.filter((path) => readFileSync(path, "latin1").includes(key))).toEqual([]);
});

test("importing the library loads neither the AI SDK nor a provider", () => {
  const index = new URL("../../../src/index.ts", import.meta.url).href;
  const program = `
    import { registerHooks } from "node:module";
    const loaded = [];
    registerHooks({
      load(url, context, next) {
        loaded.push(url);
        return next(url, context);
      },
    });
    const { durableModel } = await import(${JSON.stringify(index)});
    console.log(JSON.stringify({ kind: typeof durableModel, loaded }));
  `;
  const output = execFileSync(process.execPath, ["--input-type=module", "--eval", program], {
    encoding: "utf8",
    env: { ...process.env, NODE_OPTIONS: "" },
  });
  const { kind, loaded } = JSON.parse(output) as { kind: string; loaded: string[] };
  expect(kind).toBe("function");
  expect(loaded.some((url) => url.endsWith("/src/run/durable-model-api.ts"))).toBe(true);
  expect(loaded.filter((url) => /\/node_modules\/(?:ai|@ai-sdk|zod)\//.test(url))).toEqual([]);
});
