import { isJsonObject, type Json, type JsonObject } from "../../../domain/json.ts";
import { noUsage, type TokenUsage } from "../../../domain/usage.ts";
import { agentError } from "../agent-error.ts";
import { type AgentReport, type EventReader, noReport, textOf } from "../agent-events.ts";
import { type AgentLaunch, type LaunchOptions, modelFlag } from "../agent-launch.ts";
import { type AgentUse, countOf, unnamedModel } from "../agent-use.ts";
import { fieldsOf, filesBelow, noTranscript, type Transcript, UseByAnswer } from "../transcript.ts";

const approvalModes = { read: "plan", edit: "auto_edit", full: "yolo" } as const;

export function launchGemini({ model, permissions, env }: LaunchOptions): AgentLaunch {
  // Only its settings can say that it uses its key although its server has an address of its own.
  const settings = { security: { auth: { selectedType: "gemini-api-key" } } };
  const hasKey = env["GEMINI_API_KEY"] !== undefined;
  return {
    argv: [
      ..."gemini --output-format stream-json --skip-trust --approval-mode".split(" "),
      approvalModes[permissions],
      ...modelFlag("-m", model),
    ],
    ...(hasKey && { home: { ".gemini/settings.json": JSON.stringify(settings) } }),
  };
}

/** `gemini --output-format stream-json`: its answers come in pieces, between the calls of its tools. */
export class GeminiEvents implements EventReader {
  report: AgentReport = noReport;
  #begun = false;
  #isInAnswer = false;

  read(event: JsonObject): string | undefined {
    const type = textOf(event["type"]);
    if (type === "init" && "session_id" in event) {
      this.#begun = true;
      return this.#note({ cliSession: textOf(event["session_id"]) });
    }
    if (!this.#begun) return undefined;
    switch (type) {
      case "message":
        return event["role"] === "assistant" ? this.#piece(textOf(event["content"]) ?? "") : "";
      case "tool_use":
      case "tool_result":
        this.#isInAnswer = false;
        return "";
      case "error":
        return "";
      case "result":
        return this.#result(event);
      case null:
      default:
        return undefined;
    }
  }

  #piece(piece: string): string {
    const text = this.#isInAnswer ? this.report.text + piece : piece;
    this.#isInAnswer = true;
    return this.#note({ text }, piece);
  }

  #result({ status, error, stats }: JsonObject): string {
    const words = textOf(fieldsOf(error)["message"]) ?? "it failed";
    return this.#note({
      use: useOf(stats),
      error: status === "success" ? null : agentError(words),
    });
  }

  #note(more: Partial<AgentReport>, shown = ""): string {
    this.report = { ...this.report, ...more };
    return shown;
  }
}

function useOf(stats: Json | undefined): AgentUse | null {
  const models = Object.entries(fieldsOf(fieldsOf(stats)["models"])).flatMap(([model, usage]) =>
    isJsonObject(usage) ? [[model, usageOf(usage)] as const] : [],
  );
  return models.length === 0 ? null : { byModel: new Map(models), costMicroUsd: null };
}

/** Its thoughts are in the total alone. */
function usageOf(usage: JsonObject): TokenUsage {
  const [input, output] = [countOf(usage["input_tokens"]), countOf(usage["output_tokens"])];
  const reasoningTokens = Math.max(0, countOf(usage["total_tokens"]) - input - output);
  return {
    ...noUsage,
    inputTokens: input,
    cachedInputTokens: countOf(usage["cached"]),
    outputTokens: output + reasoningTokens,
    reasoningTokens,
  };
}

/** Its chats, whose lines have the tokens of each answer. It begins at zero when it resumes. */
export async function readGemini(home: string, _session: string): Promise<Transcript> {
  const answers = new UseByAnswer();
  const isChat = (path: readonly string[]) =>
    path.slice(0, -1).includes("chats") && path.at(-1)?.endsWith(".jsonl") === true;
  for await (const line of filesBelow(home, [".gemini", "tmp"], isChat)) {
    const [id, tokens] = [textOf(line["id"]), line["tokens"]];
    if (line["type"] !== "gemini" || id === null || !isJsonObject(tokens)) continue;
    const reasoningTokens = countOf(tokens["thoughts"]);
    answers.add(id, textOf(line["model"]) ?? unnamedModel, {
      ...noUsage,
      inputTokens: countOf(tokens["input"]) + countOf(tokens["tool"]),
      cachedInputTokens: countOf(tokens["cached"]),
      outputTokens: countOf(tokens["output"]) + reasoningTokens,
      reasoningTokens,
    });
  }
  return { ...noTranscript, used: answers.use };
}
