import { microsToUsd } from "../../../domain/budget.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../domain/json.ts";
import { noUsage, type TokenUsage } from "../../../domain/usage.ts";
import { type AgentError, agentError, isHopeless } from "../agent-error.ts";
import { type AgentReport, type EventReader, noReport, textOf } from "../agent-events.ts";
import { type AgentLaunch, type LaunchOptions, modelFlag } from "../agent-launch.ts";
import { type AgentUse, costOf, countOf, noUse, unnamedModel } from "../agent-use.ts";
import { fieldsOf, filesBelow, type Transcript, UseByAnswer } from "../transcript.ts";

const permissionModes = { read: "dontAsk", edit: "acceptEdits", full: "bypassPermissions" } as const;

export function launchClaude({ model, permissions, reserve }: LaunchOptions): AgentLaunch {
  const { microUsd } = reserve;
  return {
    argv: [
      ..."claude -p --output-format stream-json --verbose --permission-mode".split(" "),
      permissionModes[permissions],
      ...(permissions === "read" ? ["--disallowedTools", "Write,Edit,NotebookEdit"] : []),
      ...modelFlag("--model", model),
      // Of one run: it does not count the earlier runs of a conversation that it resumes. It refuses zero.
      ...(microUsd === undefined || microUsd === 0
        ? []
        : ["--max-budget-usd", String(microsToUsd(microUsd))]),
    ],
    env: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" },
  };
}

/** The team chose a conversation of its own. */
const choosesSession =
  /^(?:--resume|-r|--continue|-c|--session-id|--no-session-persistence|--fork-session)(?:=|$)/;

export function resumeClaude(argv: readonly string[], session: string): readonly string[] | undefined {
  return argv.some((word) => choosesSession.test(word)) ? undefined : [...argv, "--resume", session];
}

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
    if (type === "system" && event["subtype"] === "api_retry") return this.#retry(event);
    if (type === "system" && "session_id" in event) return this.#session(event, "");
    if (type === "rate_limit_event" && "session_id" in event) return this.#limit(event);
    if ((type === "assistant" || type === "user") && isJsonObject(event["message"])) {
      this.#errorKind = textOf(event["error"]);
      return this.#session(event, type === "assistant" ? said(event["message"]["content"]) : "");
    }
    return undefined;
  }

  /** It repeats any failed request for minutes, also with a wrong key. */
  #retry(event: JsonObject): string {
    const kind = textOf(event["error"]);
    const [status, tries] = [countOf(event["error_status"]), countOf(event["attempt"])];
    const waitMs = countOf(event["retry_delay_ms"]);
    const words = `API Error: ${status === 0 ? "no answer" : status}${kind === null ? "" : ` ${kind}`}`;
    const error = agentError(words, kind, Math.max(this.#resetsAt ?? 0, Date.now() + waitMs));
    this.#session(event, "");
    if (isHopeless(error, tries, waitMs)) this.report = { ...this.report, refusal: error };
    return `${words}; it tries again in ${Math.ceil(waitMs / 1000)} s (${tries} of ${countOf(event["max_retries"])}).\n`;
  }

  #limit(event: JsonObject): string {
    const info = event["rate_limit_info"];
    const seconds = isJsonObject(info) && info["status"] === "rejected" ? info["resetsAt"] : null;
    this.#resetsAt = Number.isSafeInteger(seconds) ? (seconds as number) * 1000 : null;
    return this.#session(event, "");
  }

  #session(event: JsonObject, text: string): string {
    const cliSession = textOf(event["session_id"]) ?? this.report.cliSession;
    this.report = { ...this.report, cliSession, ...(text !== "" && { text }) };
    return text;
  }

  /** There is one for each turn: work in the background may begin another. The last one has the sums of all. */
  #result(event: JsonObject): string {
    const words = textOf(event["result"]) ?? "";
    const byModel = usageByModel(event["modelUsage"]) ?? ownUsage(event["usage"]);
    const costMicroUsd = costOf(event["total_cost_usd"]);
    this.report = {
      text: words === "" ? this.report.text : words,
      use: byModel && { byModel, costMicroUsd },
      cliSession: textOf(event["session_id"]),
      error: this.#errorIn(event),
      refusal: null,
    };
    return "";
  }

  #errorIn(event: JsonObject): AgentError | null {
    const { subtype, errors } = event;
    if (event["is_error"] !== true && subtype === "success") return null;
    const listed = Array.isArray(errors) ? (errors as readonly Json[]).map(textOf).join("; ") : "";
    const words = textOf(event["result"]) || listed || textOf(subtype) || "it failed";
    if (subtype === "error_max_budget_usd") return { words, status: null, isOwnLimit: true };
    return agentError(words, this.#errorKind, this.#resetsAt, countOf(event["api_error_status"]) || null);
  }
}

/** Of all models that it asked, also for its sub-agents, and in earlier runs of the conversation that it knows of. */
function usageByModel(value: Json | undefined): AgentUse["byModel"] | null {
  if (!isJsonObject(value)) return null;
  const models = Object.entries(value).map(([model, usage]) => {
    const cached = countOf(fieldsOf(usage)["cacheReadInputTokens"]);
    const written = countOf(fieldsOf(usage)["cacheCreationInputTokens"]);
    return [
      model,
      {
        ...noUsage,
        inputTokens: countOf(fieldsOf(usage)["inputTokens"]) + cached + written,
        cachedInputTokens: cached,
        cacheWriteTokens: written,
        outputTokens: countOf(fieldsOf(usage)["outputTokens"]),
        reasoningTokens: countOf(fieldsOf(usage)["thinkingTokens"]),
      },
    ] as const;
  });
  return models.length === 0 ? null : new Map(models);
}

/** Without its sub-agents; older versions report no more. */
function ownUsage(usage: Json | undefined): AgentUse["byModel"] | null {
  const own = usageOf(usage);
  return own && new Map([[unnamedModel, own]]);
}

/** Cached tokens are counted beside the input. */
function usageOf(usage: Json | undefined): TokenUsage | null {
  if (!isJsonObject(usage) || !("input_tokens" in usage)) return null;
  const cachedInputTokens = countOf(usage["cache_read_input_tokens"]);
  const cacheWriteTokens = countOf(usage["cache_creation_input_tokens"]);
  return {
    ...noUsage,
    inputTokens: countOf(usage["input_tokens"]) + cachedInputTokens + cacheWriteTokens,
    cachedInputTokens,
    cacheWriteTokens,
    outputTokens: countOf(usage["output_tokens"]),
    reasoningTokens: countOf(fieldsOf(usage["output_tokens_details"])["thinking_tokens"]),
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

/**
 * Its own transcript and those of its sub-agents: each answer, as soon as it is whole. What it asks beside the conversation
 * is in the sums that it writes when it ends, and begins with when it resumes.
 */
export async function readClaude(home: string, session: string): Promise<Transcript> {
  const answers = new UseByAnswer();
  let restored: AgentUse = noUse;
  const isOfSession = (path: readonly string[]) =>
    path.at(-1) === `${session}.jsonl` ||
    (path.at(1) === session && path.at(-1)?.endsWith(".jsonl") === true);
  for await (const line of filesBelow(home, [".claude", "projects"], isOfSession)) {
    if (line["type"] === "cost-state") {
      const byModel = usageByModel(line["modelUsage"]) ?? noUse.byModel;
      restored = { byModel, costMicroUsd: costOf(line["totalCostUSD"]) };
    }
    const message = fieldsOf(line["message"]);
    const usage = usageOf(message["usage"]);
    const id = textOf(message["id"]);
    if (line["type"] === "assistant" && usage !== null && id !== null)
      answers.add(id, textOf(message["model"]) ?? unnamedModel, usage);
  }
  return { used: answers.use, restored };
}
