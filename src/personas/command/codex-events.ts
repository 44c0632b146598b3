import { isJsonObject, type JsonObject } from "../../domain/json.ts";
import { noUsage } from "../../domain/usage.ts";
import { agentError } from "./agent-error.ts";
import { type AgentReport, countOf, type EventReader, noReport, textOf } from "./agent-report.ts";

/** `codex exec --json`: events of a thread, one a line. It reports no price. */
export class CodexEvents implements EventReader {
  report: AgentReport = noReport;

  read(event: JsonObject): string | undefined {
    switch (textOf(event["type"])) {
      case "thread.started":
        return this.#note({ cliSession: textOf(event["thread_id"]) });
      case "item.completed":
        return this.#item(event);
      case "turn.completed":
        return this.#usage(event);
      case "turn.failed":
        this.#usage(event);
        return this.#note({ error: agentError(messageOf(event["error"]) ?? "the turn failed") });
      case "error":
        return this.#note({ error: agentError(textOf(event["message"]) ?? "it failed") });
      case "turn.started":
      case "item.started":
      case "item.updated":
        return "";
      case null:
      default:
        return undefined;
    }
  }

  #item({ item }: JsonObject): string {
    const text = isJsonObject(item) && item["type"] === "agent_message" ? textOf(item["text"]) : null;
    return text === null ? "" : this.#note({ text }, text);
  }

  /** Turns are added up; cached tokens are part of the input. A turn that ends well has got over its errors. */
  #usage(event: JsonObject): string {
    const { usage } = event;
    const error = event["type"] === "turn.completed" ? { error: null } : {};
    if (!isJsonObject(usage)) return this.#note(error);
    const sum = this.report.usage ?? noUsage;
    return this.#note({
      ...error,
      usage: {
        inputTokens: sum.inputTokens + countOf(usage["input_tokens"]),
        cachedInputTokens: sum.cachedInputTokens + countOf(usage["cached_input_tokens"]),
        cacheWriteTokens: 0,
        outputTokens: sum.outputTokens + countOf(usage["output_tokens"]),
        reasoningTokens: sum.reasoningTokens + countOf(usage["reasoning_output_tokens"]),
      },
    });
  }

  #note(more: Partial<AgentReport>, shown = ""): string {
    this.report = { ...this.report, ...more };
    return shown;
  }
}

const messageOf = (error: unknown): string | null => (isJsonObject(error) ? textOf(error["message"]) : null);
