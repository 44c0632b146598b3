import type { Money } from "../../domain/budget.ts";
import { isJsonObject, type Json, type JsonObject } from "../../domain/json.ts";
import { noUsage, type TokenUsage } from "../../domain/usage.ts";
import { type AgentError, agentError } from "./agent-error.ts";

/** An agent's own report of its work; `null` for a member that it does not report. */
export interface AgentReport {
  /** Its last word. */
  readonly text: string;
  readonly usage: TokenUsage | null;
  readonly costMicroUsd: Money | null;
  /** The id by which the conversation can be resumed. */
  readonly cliSession: string | null;
  /** The error that it reports. */
  readonly error: AgentError | null;
}

/** Understands the events of one agent; the lines are JSON objects. */
export interface EventReader {
  /** Text for people who watch; `undefined` when the event is not of this agent. */
  read(event: JsonObject): string | undefined;
  readonly report: AgentReport;
}

export const noReport: AgentReport = {
  text: "",
  usage: null,
  costMicroUsd: null,
  cliSession: null,
  error: null,
};

/** Counts from outside: none when it is no count. */
export const countOf = (value: unknown): number =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : 0;

export const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null);

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
