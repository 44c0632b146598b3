import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { classifyError } from "../../../src/execution/failure/classify-error.ts";
import { commandName } from "../../../src/models/agents/agent-name.ts";
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
      ["command", expect.stringMatching(/^command\/node:[0-9a-f]{8}$/), steps.records[0]?.name],
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

  test.each(["sk-ant-verysecret0123456789", "hunter2-of-no-known-shape", "first line\nsecond line"])(
    "keys in its environment are neither recorded nor in what it says or shows: %s",
    async (secret) => {
      const env = { AGENT_KEY: secret };
      const { run, steps, heard } = place(agent(`console.log("my key is", process.env.AGENT_KEY)`), { env });
      expect((await run()).summary).toMatch(/^my key is \[redacted\](?:\n\[redacted\])?$/);
      const fails = place(agent(`console.error(process.env.AGENT_KEY); process.exit(2)`), { env });
      expect((await failureOf(fails.run)).message).toMatch(/ended with 2: \[redacted\]/);
      const kept = JSON.stringify([steps.records, fails.steps.records, heard]);
      for (const line of secret.split("\n")) expect(kept).not.toContain(line);
    },
  );

  test("a key is recognized before its text is cut, wherever the cut falls", async () => {
    const key = `sk-ant-${"k".repeat(200)}`;
    for (const after of [1950, 256 * 1024 - 100, 3 * 256 * 1024 - 100]) {
      const source = `console.error(${JSON.stringify(key)} + "." + "x".repeat(${after})); process.exit(1)`;
      expect((await failureOf(place(agent(source)).run)).message).not.toContain("kkk");
      const said = `console.log("a " + ${JSON.stringify(key)} + "." + "x ".repeat(${after / 2}))`;
      expect((await place(agent(said)).run()).summary).not.toContain("kkk");
    }
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
    const whole = new AgentOutput({ onText: () => {} });
    whole.add(text);
    const report = whole.finish();
    for (const size of [1, 7, 1000]) {
      const output = new AgentOutput({ onText: () => {} });
      output.add("warning: something\n{not json\n");
      for (let at = 0; at < text.length; at += size) output.add(text.slice(at, at + size));
      expect(output.finish()).toEqual(report);
    }
  });

  test("a line without an end does not fill the memory", () => {
    const output = new AgentOutput({ onText: () => {} });
    for (let piece = 0; piece < 40; piece += 1) output.add("x".repeat(1024 * 1024));
    output.add("\nthe end");
    expect(output.finish().text).toBe("the end");
  });

  test("nonsense in the numbers is no number", () => {
    const output = new AgentOutput({ onText: () => {} });
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

describe("a conversation that was interrupted", () => {
  const events = (session: string) => [
    { type: "system", subtype: "init", session_id: session },
    { type: "result", subtype: "success", is_error: false, result: "went on", session_id: session },
  ];

  /** Runs nothing: answers for the agent, and remembers how it was called. */
  function agentOf(answers: readonly { readonly code: number; readonly print: readonly object[] }[]) {
    const calls: (readonly [string, string])[] = [];
    const runCommand: CommandPersonaPorts["runCommand"] = async ({ argv, stdin, onOutput }) => {
      const answer = answers[calls.length];
      calls.push([argv.join(" "), stdin.slice(0, 20)]);
      onOutput((answer?.print ?? []).map((event) => `${JSON.stringify(event)}\n`).join(""), "stdout");
      return { kind: "exited", code: answer?.code ?? 9, stdout: "", stderr: "No conversation found" };
    };
    return { calls, runCommand };
  }

  const went = { code: 0, print: events("new-id") };

  test.each([
    [["claude", "-p"], "claude -p --resume old-id"],
    [
      ["npx", "-y", "@anthropic-ai/claude-code@2", "-p"],
      "npx -y @anthropic-ai/claude-code@2 -p --resume old-id",
    ],
    [["codex", "exec", "--json"], "codex exec --json resume old-id -"],
    [["codex", "exec", "--json", "-"], "codex exec --json resume old-id -"],
  ])("is gone on with: %s", async (argv, expected) => {
    const { calls, runCommand } = agentOf([went]);
    const noted: string[] = [];
    const left = { session: "old-id", note: async (id: string) => void noted.push(id) };
    const { run } = place(argv, { runCommand, place: commandPlace(new MemoryFiles(), left) });
    expect((await run()).summary).toBe("went on");
    expect(calls).toEqual([[expected, "You were interrupted"]]);
    expect(noted).toEqual(["new-id"]);
  });

  test.each([
    ["an agent that nobody knows", ["agent", "-p"], "old-id"],
    ["a name that is an option", ["claude", "-p"], "--dangerously-skip-permissions"],
    ["a conversation of the team's own", ["claude", "-p", "--session-id", "x"], "old-id"],
    ["a conversation that is not kept", ["codex", "exec", "--ephemeral"], "old-id"],
  ])("begins anew from the first files: %s", async (_, argv, session) => {
    const { calls, runCommand } = agentOf([went]);
    let restarts = 0;
    const left = { session, restart: async () => void (restarts += 1) };
    const { run } = place(argv, { runCommand, place: commandPlace(new MemoryFiles(), left) });
    await run();
    expect(calls).toEqual([[argv.join(" "), "You are skeptic in p"]]);
    expect(restarts).toBe(1);
  });

  test("that the agent does not know any more begins anew in the same step", async () => {
    const { calls, runCommand } = agentOf([{ code: 1, print: [] }, went]);
    const { run } = place(["claude", "-p"], {
      runCommand,
      place: commandPlace(new MemoryFiles(), { session: "old-id" }),
    });
    await run();
    expect(calls.map(([words]) => words)).toEqual(["claude -p --resume old-id", "claude -p"]);
  });

  test("that is killed in its middle is not begun anew behind the back of its attempt", async () => {
    const { calls, runCommand } = agentOf([{ code: 137, print: events("old-id").slice(0, 1) }, went]);
    const { run } = place(["claude", "-p"], {
      runCommand,
      place: commandPlace(new MemoryFiles(), { session: "old-id" }),
    });
    expect(classifyError(await failureOf(run))).toMatchObject({ category: "RESOURCE" });
    expect(calls).toHaveLength(1);
  });

  test("that meets a limit is not begun anew", async () => {
    const limit = {
      type: "result",
      is_error: true,
      session_id: "s",
      result: "Claude AI usage limit reached",
    };
    const { calls, runCommand } = agentOf([{ code: 1, print: [limit] }, went]);
    const { run } = place(["claude", "-p"], {
      runCommand,
      place: commandPlace(new MemoryFiles(), { session: "old-id" }),
    });
    expect(classifyError(await failureOf(run))).toMatchObject({ category: "RATE_LIMIT" });
    expect(calls).toHaveLength(1);
  });
});

describe("what a command is known by", () => {
  test.each([
    [["claude", "-p"], "command/claude"],
    [["/home/me/.local/bin/claude", "-p"], "command/claude"],
    [["npx", "@openai/codex", "exec"], "command/codex"],
    [["aider", "--yes"], "command/aider"],
    [["sh", "scripts/agent.sh"], "command/sh:agent.sh"],
    [["python3", "-m", "agent"], "command/python3:agent"],
    [["my-agent", "claude"], "command/my-agent"],
  ])("%s", (argv, name) => {
    expect(commandName(argv)).toBe(name);
  });

  test("two scripts of one shell are two commands", () => {
    expect(commandName(["sh", "-c", "a | b"])).not.toBe(commandName(["sh", "-c", "c | d"]));
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

  test("a subscription's limit is a rate limit, until the time it says", async () => {
    const resets = Math.floor(Date.now() / 1000) + 7200;
    const said = (event: object) =>
      place(agent(`console.log(${JSON.stringify(JSON.stringify(event))}); process.exit(1)`)).run;
    const failed = { type: "result", subtype: "success", is_error: true, session_id: "s" };
    const claude = classifyError(
      await failureOf(said({ ...failed, result: `Claude AI usage limit reached|${resets}` })),
    );
    expect(claude).toMatchObject({ category: "RATE_LIMIT", outage: true });
    expect(claude.retryAfterMs).toBeGreaterThan(7_100_000);
    expect(claude.retryAfterMs).toBeLessThanOrEqual(7_200_000);
    const limits = { type: "rate_limit_event", session_id: "s" };
    const info = { rate_limit_info: { status: "rejected", resetsAt: resets } };
    const output = new AgentOutput({ onText: () => {} });
    output.add(`${JSON.stringify({ ...limits, ...info })}\n`);
    output.add(JSON.stringify({ ...failed, result: "You've hit your limit · resets 3pm" }));
    expect(output.finish().error).toMatchObject({ status: 429, retryAt: resets * 1000 });
    const codex = said({
      type: "turn.failed",
      error: { message: "You've hit your usage limit. Try later." },
    });
    expect(classifyError(await failureOf(codex))).toMatchObject({ category: "RATE_LIMIT" });
  });

  test.each([
    "FAIL login.test: expected 200, got 401 unauthorized",
    "1 of 40 tests failed: request timed out is not handled",
    "the draft says: API Error: 529 overloaded",
    "payment required",
    "Invalid API key",
    "getaddrinfo ENOTFOUND api.example.org",
  ])("what it printed of its work is no word about its provider: %s", async (words) => {
    const printed = await failureOf(
      place(agent(`console.error(${JSON.stringify(words)}); process.exit(1)`)).run,
    );
    const event = {
      type: "result",
      subtype: "error_max_turns",
      is_error: true,
      session_id: "s",
      result: `I saw: ${words}`,
    };
    const told = await failureOf(place(agent(`console.log(${JSON.stringify(JSON.stringify(event))})`)).run);
    for (const error of [printed, told])
      expect(classifyError(error)).toMatchObject({ recoverable: true, outage: false });
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
