import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import type { CommandPersonaPorts } from "../../../src/personas/command/command-ports.ts";
import { classifyError } from "../../../src/run/failure/classify-error.ts";
import { commandPlace } from "../../support/command-place.ts";
import { MemoryFiles } from "../../support/memory-files.ts";
import { RecordingSteps } from "../../support/recording-steps.ts";
import { agent, failureOf, fixture, place } from "./command-agent-place.ts";

describe("an agent's command line", () => {
  test("gets the prompt, works in a folder of its own, and its output is the summary", async () => {
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
    ["an unknown agent", ["agent", "-p"], "old-id"],
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

  test("that the agent no longer knows begins anew in the same step", async () => {
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
