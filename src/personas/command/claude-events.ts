import { isJsonObject, type Json, type JsonObject } from "../../domain/json.ts";
import type { TokenUsage } from "../../domain/usage.ts";
import { agentError } from "./agent-error.ts";
import { type AgentReport, countOf, type EventReader, noReport, textOf } from "./agent-report.ts";

const maxUsd = 1_000_000;

/** `claude -p --output-format json` (the last event alone) and `stream-json` (all of them, one a line). */
export class ClaudeEvents implements EventReader {
  report: AgentReport = noReport;
  /** When the limit ends that it has met. */
  #resetsAt: number | null = null;
  /** Its own word for what its provider did. */
  #errorKind: string | null = null;

  read(event: JsonObject): string | undefined {
    const { type } = event;
    if (type === "result" && "session_id" in event) return this.#result(event);
    if (type === "system" && "session_id" in event) return this.#session(event, "");
    if (type === "rate_limit_event" && "session_id" in event) return this.#limit(event);
    if ((type === "assistant" || type === "user") && isJsonObject(event["message"])) {
      this.#errorKind = textOf(event["error"]);
      return this.#session(event, type === "assistant" ? said(event["message"]["content"]) : "");
    }
    return undefined;
  }

  #limit(event: JsonObject): string {
    const info = event["rate_limit_info"];
    const seconds = isJsonObject(info) && info["status"] === "rejected" ? countOf(info["resetsAt"]) : 0;
    this.#resetsAt = seconds === 0 ? null : seconds * 1000;
    return this.#session(event, "");
  }

  #session(event: JsonObject, text: string): string {
    const cliSession = textOf(event["session_id"]) ?? this.report.cliSession;
    this.report = { ...this.report, cliSession, ...(text !== "" && { text }) };
    return text;
  }

  #result(event: JsonObject): string {
    const failed = event["is_error"] === true || event["subtype"] !== "success";
    const words = textOf(event["result"]) ?? "";
    const usd = event["total_cost_usd"];
    const priced = typeof usd === "number" && usd >= 0 && usd < maxUsd;
    this.report = {
      text: words === "" ? this.report.text : words,
      usage: usageOf(event["usage"]),
      costMicroUsd: priced ? Math.round(usd * 1_000_000) : null,
      cliSession: textOf(event["session_id"]),
      error: failed
        ? agentError(words || (textOf(event["subtype"]) ?? "it failed"), this.#errorKind, this.#resetsAt)
        : null,
    };
    return "";
  }
}

/** Cached tokens are counted beside the input. */
function usageOf(usage: Json | undefined): TokenUsage | null {
  if (!isJsonObject(usage) || !("input_tokens" in usage)) return null;
  const cachedInputTokens = countOf(usage["cache_read_input_tokens"]);
  const cacheWriteTokens = countOf(usage["cache_creation_input_tokens"]);
  return {
    inputTokens: countOf(usage["input_tokens"]) + cachedInputTokens + cacheWriteTokens,
    cachedInputTokens,
    cacheWriteTokens,
    outputTokens: countOf(usage["output_tokens"]),
    reasoningTokens: 0,
  };
}

const said = (content: Json | undefined): string =>
  Array.isArray(content)
    ? (content as readonly Json[])
        .flatMap((part) =>
          isJsonObject(part) && part["type"] === "text" ? [textOf(part["text"]) ?? ""] : [],
        )
        .join("")
    : "";
