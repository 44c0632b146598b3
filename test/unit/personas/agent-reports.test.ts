import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import type { RunStep } from "../../../src/journal/durable-step.ts";
import { commandName } from "../../../src/personas/command/agent.ts";
import { AgentOutput, readLastWord } from "../../../src/personas/command/agent-output.ts";
import type { CommandPlace } from "../../../src/personas/model/ports.ts";
import { commandPlace } from "../../support/command-place.ts";
import { MemoryFiles } from "../../support/memory-files.ts";
import { agent, failureOf, fixture, place, printing } from "./command-agent-place.ts";

describe("reads the reports of known agents", () => {
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

  test.each([
    ["no tokens", { input_tokens: 0, output_tokens: 0 }],
    ["no output", { input_tokens: 900, output_tokens: 0 }],
    ["nonsense", { input_tokens: "many", output_tokens: -3 }],
  ])("a run that ended well and reports %s has reported nothing", async (_, usage) => {
    const event = { type: "result", subtype: "success", session_id: "s", result: "done", usage };
    const line = JSON.stringify({ ...event, total_cost_usd: 0 });
    const { run, steps } = place(agent(`console.log(${JSON.stringify(line)})`));
    expect(await run()).toMatchObject({ summary: "done", usage: null });
    expect(steps.settled[0]?.spent).toEqual({ usage: null, costMicroUsd: null });
  });

  test("a run that did not start does not repeat the usage of the run before", async () => {
    const failed = {
      type: "result",
      subtype: "error",
      is_error: true,
      session_id: "s",
      result: "529 Overloaded",
    };
    const line = JSON.stringify({ ...failed, usage: { input_tokens: 5000, output_tokens: 7 } });
    const real = commandPlace(new MemoryFiles());
    let runs = 0;
    const onceOnly: CommandPlace = {
      inFolder: async (work) => {
        runs += 1;
        if (runs > 1) throw new Error("the disk is full");
        return real.inFolder(work);
      },
    };
    const spent: unknown[] = [];
    const twice: RunStep = async (step) => {
      for (let run = 0; run < 2; run += 1)
        await Promise.resolve(step.effect()).catch((error: unknown) =>
          spent.push(step.spend?.spent({ error })),
        );
      throw new Error("it ran twice");
    };
    const { run } = place(agent(`console.log(${JSON.stringify(line)}); process.exit(3)`), {
      place: onceOnly,
    });
    await failureOf(() => run(twice));
    expect(spent).toMatchObject([{ usage: { inputTokens: 5000 } }, { usage: null }]);
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
    const nothing = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 };
    expect(output.finish()).toMatchObject({
      use: { byModel: new Map([["", expect.objectContaining(nothing)]]), costMicroUsd: null },
      cliSession: null,
      text: "",
    });
  });
});

describe("the name of a command in breakers and reports", () => {
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
