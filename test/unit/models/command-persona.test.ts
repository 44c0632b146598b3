import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { classifyError } from "../../../src/execution/failure/classify-error.ts";
import { AgentOutput } from "../../../src/models/agents/agent-output.ts";
import { readLastWord } from "../../../src/models/agents/last-word.ts";
import { type CommandPersonaPorts, runCommandPersona } from "../../../src/models/command-persona.ts";
import { commandPlace, runProcess } from "../../support/command-place.ts";
import { MemoryFiles } from "../../support/memory-files.ts";
import { RecordingSteps } from "../../support/recording-steps.ts";
import { someWork } from "./persona-place.ts";

const fixture = (name: string): string =>
  fileURLToPath(new URL(`../../fixtures/models/${name}`, import.meta.url));

/** An agent that is a little program. */
const agent = (source: string, ...args: string[]): string[] => [
  process.execPath,
  "--input-type=module",
  "-e",
  `import * as fs from "node:fs"; const prompt = fs.readFileSync(0, "utf8"); ${source}`,
  ...args,
];

const printing = (name: string): string[] =>
  agent(
    `fs.writeFileSync("risks.md", "# Risks"); process.stdout.write(fs.readFileSync(${JSON.stringify(fixture(name))}))`,
  );

function place(argv: readonly string[], more: Partial<CommandPersonaPorts> = {}, files = new MemoryFiles()) {
  const steps = new RecordingSteps();
  const heard: string[] = [];
  const run = (runStep = steps.runStep) =>
    runCommandPersona(someWork({ persona: "skeptic", instructions: "Find what breaks the design." }), {
      argv,
      runStep,
      runCommand: runProcess,
      place: commandPlace(files),
      files,
      signal: new AbortController().signal,
      onText: (text) => heard.push(text),
      ...more,
    });
  return { run, steps, files, heard };
}

const failureOf = async (run: () => Promise<unknown>): Promise<Error> =>
  run().then(
    () => expect.fail("it did not fail"),
    (error: unknown) => error as Error,
  );

describe("an agent's command line", () => {
  test("gets the prompt, works in a folder of its own, and its words are the summary", async () => {
    const { run, files, steps, heard } = place(
      agent(
        `fs.writeFileSync("seen.txt", prompt); fs.rmSync("old.txt"); console.log("All is", process.argv.at(-1));`,
        "well",
      ),
      {},
      new MemoryFiles({ "old.txt": "old", "same.txt": "same" }),
    );
    const result = await run();
    expect(result).toEqual({
      summary: "All is well",
      outputs: {},
      decisions: [],
      usage: null,
      cliSession: null,
      refused: [],
    });
    expect(Object.keys(files.contents).sort()).toEqual(["same.txt", "seen.txt"]);
    expect(files.contents["seen.txt"]).toBe(await readFile(fixture("prompt-command.txt"), "utf8"));
    expect(heard.join("")).toBe("All is well\n");
    expect(steps.records.map(({ kind, name, dependency }) => [kind, name, dependency])).toEqual([
      ["command", "command/node", "command/node"],
    ]);
    expect(steps.settled[0]?.spent).toEqual({ usage: null, costMicroUsd: null });
  });

  test("is not run again when its work is recorded: its files are put back", async () => {
    const first = place(agent(`fs.writeFileSync("a.txt", "a"); console.log("done")`));
    await first.run();
    const files = new MemoryFiles({}, first.files.stored);
    const again = place(first.steps.records.length === 1 ? agent(`process.exit(9)`) : [], {}, files);
    // The same command line, or it would be another step.
    const replayed = place(
      agent(`fs.writeFileSync("a.txt", "a"); console.log("done")`),
      {
        runCommand: () => Promise.reject(new Error("must not run")),
      },
      files,
    );
    await replayed.run(new RecordingSteps(first.steps.records).runStep);
    expect(files.contents).toEqual({ "a.txt": "a" });
    await expect(again.run(new RecordingSteps(first.steps.records).runStep)).rejects.toThrow("ended with 9");
  });

  test("keys in its environment are neither recorded nor in what it says", async () => {
    const secret = "sk-ant-verysecret0123456789";
    const { run, steps } = place(agent(`console.log("my key is", process.env.AGENT_KEY)`), {
      env: { AGENT_KEY: secret },
    });
    expect((await run()).summary).toBe("my key is [redacted]");
    expect(JSON.stringify(steps.records)).not.toContain(secret);
  });
});

describe("what known agents report is read", () => {
  test("Claude Code, as a stream of events", async () => {
    const { run, steps, heard, files } = place(printing("claude-stream.jsonl"));
    expect(await run()).toEqual({
      summary: "Three risks, one of them serious.",
      outputs: { risks: 3 },
      decisions: [{ decision: "Look at payment first", reason: "it is the least clear", rejected: ["maps"] }],
      usage: {
        inputTokens: 26_010,
        cachedInputTokens: 25_000,
        cacheWriteTokens: 1000,
        outputTokens: 80,
        reasoningTokens: 0,
      },
      cliSession: "0b8b6c1e-1111-4222-8333-444455556666",
      refused: [],
    });
    expect(steps.settled[0]?.spent.costMicroUsd).toBe(21_500);
    expect(heard).toEqual(["I will write the file.", "Done."]);
    expect(files.contents).toEqual({ "risks.md": "# Risks" });
  });

  test("Codex, as a stream of events", async () => {
    const { run, steps, heard } = place(printing("codex.jsonl"));
    expect(await run()).toMatchObject({
      summary: "Two risks, written down.",
      usage: {
        inputTokens: 24_763,
        cachedInputTokens: 24_448,
        cacheWriteTokens: 0,
        outputTokens: 122,
        reasoningTokens: 64,
      },
      cliSession: "0199a213-81c0-7800-8aa1-bbab2a035a53",
    });
    expect(steps.settled[0]?.spent.costMicroUsd).toBeNull();
    expect(heard).toEqual(["Two risks, written down."]);
  });

  test("however the pieces fall, and whatever stands between them", async () => {
    const text = await readFile(fixture("claude-stream.jsonl"), "utf8");
    const whole = new AgentOutput(() => {});
    whole.add(text);
    const report = whole.finish();
    for (const size of [1, 7, 1000]) {
      const output = new AgentOutput(() => {});
      output.add("warning: something\n{not json\n");
      for (let at = 0; at < text.length; at += size) output.add(text.slice(at, at + size));
      expect(output.finish()).toEqual(report);
    }
  });

  test("a line without an end does not fill the memory", () => {
    const output = new AgentOutput(() => {});
    for (let piece = 0; piece < 40; piece += 1) output.add("x".repeat(1024 * 1024));
    output.add("\nthe end");
    expect(output.finish().text).toBe("the end");
  });

  test("nonsense in the numbers is no number", () => {
    const output = new AgentOutput(() => {});
    const usage = { input_tokens: "many", output_tokens: -3, cache_read_input_tokens: 1.5 };
    output.add(
      JSON.stringify({
        type: "result",
        subtype: "success",
        session_id: 7,
        result: 5,
        usage,
        total_cost_usd: -1,
      }),
    );
    expect(output.finish()).toMatchObject({
      usage: { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 },
      costMicroUsd: null,
      cliSession: null,
      text: "",
    });
  });
});

describe("the last word", () => {
  test.each([
    ["plain text", "All good.", { summary: "All good." }],
    ["bare JSON", '{"summary": "s", "outputs": {"a": 1}}', { summary: "s", outputs: { a: 1 } }],
    ["JSON without a summary", '{"a": 1}', { summary: '{"a": 1}', outputs: {} }],
    ["broken JSON", "```json\n{oops\n```", { summary: "```json\n{oops\n```" }],
    [
      "the last of two blocks",
      '```json\n{"summary":"one"}\n```\n```json\n{"summary":"two"}\n```',
      { summary: "two" },
    ],
    [
      "outputs that are none",
      '{"summary": "s", "outputs": [1], "decisions": "x"}',
      { outputs: {}, decisions: [] },
    ],
    ["a key __proto__", '{"summary": "s", "outputs": {"__proto__": {"x": 1}}}', { outputs: {} }],
  ])("%s", (_, text, expected) => {
    expect(readLastWord(text)).toMatchObject(expected);
  });
});

describe("a command that fails", () => {
  test("says why, at the end of what it printed", async () => {
    const { run } = place(
      agent(`console.error("x".repeat(9000) + " cannot find the plan"); process.exit(3)`),
    );
    const error = await failureOf(run);
    expect(error.message).toMatch(/ended with 3: x+ cannot find the plan$/);
    expect(error.message.length).toBeLessThan(2200);
  });

  test.each([
    ["Credit balance is too low", { category: "AUTH", recoverable: false }],
    ["API Error: 529 overloaded", { category: "API_ERROR", outage: true }],
    ["Invalid API key · Please run /login", { category: "AUTH", recoverable: false }],
  ])("in the agent's own words: %s", async (result, expected) => {
    const event = {
      type: "result",
      subtype: "success",
      is_error: true,
      result,
      session_id: "s",
      usage: { input_tokens: 5, output_tokens: 1 },
    };
    const { run, steps } = place(
      agent(`console.log(${JSON.stringify(JSON.stringify(event))}); process.exit(1)`),
    );
    expect(classifyError(await failureOf(run))).toMatchObject(expected);
    // What it took before it failed counts.
    expect(steps.settled[0]?.spent.usage).toMatchObject({ inputTokens: 5, outputTokens: 1 });
  });

  test("nothing of what it left is taken over", async () => {
    const { run, files } = place(agent(`fs.writeFileSync("half.txt", "half"); process.exit(1)`));
    await failureOf(run);
    expect(files.contents).toEqual({});
  });

  test("that is not there, and one that does not end", async () => {
    const missing = await failureOf(place(["no-such-agent-here", "-p"]).run);
    expect(classifyError(missing)).toMatchObject({ category: "IMPORT", code: "ENOENT" });
    const slow = await failureOf(place(agent("setInterval(() => {}, 1000)"), { timeoutMs: 300 }).run);
    expect(classifyError(slow)).toMatchObject({ category: "TIMEOUT", outage: true });
  });

  test("is ended by an abort within a second", async () => {
    const controller = new AbortController();
    const reason = new Error("stop now");
    const { run, heard } = place(agent(`console.log("up"); setInterval(() => {}, 1000)`), {
      signal: controller.signal,
    });
    const ended = failureOf(run);
    while (heard.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const before = performance.now();
    controller.abort(reason);
    expect(await ended).toBe(reason);
    expect(performance.now() - before).toBeLessThan(1000);
  });
});
