import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { askedBy } from "../support/loopback-conversation.ts";
import type { ModelTurn } from "../support/loopback-model-turn.ts";
import { LoopbackModels, modelKey } from "../support/loopback-models.ts";
import { Program } from "./support/program.ts";

const usage = { input: 1200, cached: 1000, cacheWrite: 0, output: 80, reasoning: 30 };
const answers: readonly ModelTurn[] = [
  { calls: [{ id: "fc_1", tool: "lookup", input: { city: "Bern" } }], usage },
  { calls: [{ id: "fc_2", tool: "lookup", input: { city: "Basel" } }], usage },
  { text: "314000", usage },
];

let packages: string;

/** The packages are installed for this file alone, outside of Maestro's own folder. */
beforeAll(() => {
  packages = mkdtempSync(join(tmpdir(), "maestro-agent-packages-"));
  cpSync(join(import.meta.dirname, "agent-packages"), packages, { recursive: true });
  execFileSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], {
    cwd: packages,
    stdio: "ignore",
  });
}, 300_000);

afterAll(() => rmSync(packages, { recursive: true, force: true }));

const maestro = pathToFileURL(join(import.meta.dirname, "../../dist/index.js")).href;
// Nothing but the loopback server is asked.
const env = { MASTRA_TELEMETRY_DISABLED: "1", OPENAI_AGENTS_DISABLE_TRACING: "1" };

describe.each([
  "generateText",
  "streamText",
  "ToolLoopAgent",
  "OpenAI Agents SDK",
  "Mastra Agent",
  "Mastra Agent, streamed",
])("%s with a durable model", (agent) => {
  it.each([1, 2, 3])("uses every recorded answer after a kill at question %i", async (at) => {
    const stateDir = mkdtempSync(join(tmpdir(), "maestro-others-"));
    const server = await LoopbackModels.start();
    const programs: Program[] = [];
    onTestFinished(async () => {
      for (const program of programs) await program.end();
      await server.close();
      rmSync(stateDir, { recursive: true, force: true });
    });
    const asked: number[] = [];
    server.react = (request) => {
      const { answersBefore } = askedBy(request);
      asked.push(answersBefore);
      if (asked.length === at) programs.at(-1)?.signal("SIGKILL");
      return answers[answersBefore] ?? { text: "There was no such question." };
    };
    const drive = () => {
      const options = { agent, maestro, stateDir, baseURL: `${server.url}/v1`, apiKey: modelKey };
      const program = new Program(join(packages, "drive.mjs"), options, env);
      programs.push(program);
      return program.ended;
    };
    expect((await drive()).signal).toBe("SIGKILL");
    const { code, stdout, stderr } = await drive();
    expect(code, stderr).toBe(0);
    const reported = JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
    expect(reported).toMatchObject({ status: "completed", summary: "314000" });
    // Only the question that was under way is asked again.
    expect(asked).toEqual(
      [0, 1, 2].flatMap((question) => (question === at - 1 ? [question, question] : [question])),
    );
    expect(reported.usage).toMatchObject({
      calls: 4,
      inputTokens: 3 * usage.input,
      outputTokens: 3 * usage.output,
    });
    expect(reported.usage.saved.resume.tokens).toBe((at - 1) * (usage.input + usage.output));
  });
});
