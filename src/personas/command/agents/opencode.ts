import { isJsonObject, type JsonObject } from "../../../domain/json.ts";
import { noUsage, type TokenUsage } from "../../../domain/usage.ts";
import { agentError } from "../agent-error.ts";
import { type AgentReport, type EventReader, noReport, textOf } from "../agent-events.ts";
import type { AgentLaunch, LaunchOptions } from "../agent-launch.ts";
import { costOf, countOf, plus, totalOf, unnamedModel } from "../agent-use.ts";
import { fieldsOf } from "../transcript.ts";

const permissionRules = {
  read: { edit: "deny", bash: "deny" },
  edit: { edit: "allow", bash: "deny" },
  full: { "*": "allow" },
} as const;

export function launchOpencode({ model, permissions, persona }: LaunchOptions): AgentLaunch {
  return {
    argv: [
      ..."opencode run --format json".split(" "),
      // With a title of its own it does not ask a model for one.
      "--title",
      persona,
      ...(model === null ? [] : ["-m", model]),
    ],
    env: {
      OPENCODE_PERMISSION: JSON.stringify(permissionRules[permissions]),
      OPENCODE_DISABLE_AUTOUPDATE: "1",
    },
  };
}

/** `opencode run --format json`: the parts of its answers, one a line. Each step ends with its tokens and its price. */
export class OpencodeEvents implements EventReader {
  report: AgentReport = noReport;

  read(event: JsonObject): string | undefined {
    const session = textOf(event["sessionID"]);
    if (session === null) return undefined;
    this.#note({ cliSession: session });
    const part = fieldsOf(event["part"]);
    switch (textOf(event["type"])) {
      case "text": {
        const text = textOf(part["text"]) ?? "";
        return text === "" ? "" : this.#note({ text }, text);
      }
      case "step_finish":
        return this.#step(part);
      case "error":
        return this.#error(fieldsOf(event["error"]));
      case "step_start":
      case "tool_use":
      case "reasoning":
        return "";
      case null:
      default:
        return undefined;
    }
  }

  /** A step that ends has got over its errors. */
  #step(part: JsonObject): string {
    const usage = usageOf(part["tokens"]);
    if (usage === null) return "";
    const { use } = this.report;
    const [cost, before] = [costOf(part["cost"]), use === null ? 0 : use.costMicroUsd];
    const sum = plus(use === null ? noUsage : totalOf(use), usage);
    // A step without a price makes the whole price unknown.
    const costMicroUsd = cost === null || cost === 0 || before === null ? null : before + cost;
    return this.#note({ error: null, use: { byModel: new Map([[unnamedModel, sum]]), costMicroUsd } });
  }

  #error({ name, data }: JsonObject): string {
    const words = textOf(fieldsOf(data)["message"]) ?? textOf(name) ?? "it failed";
    const status = fieldsOf(data)["statusCode"];
    return this.#note({
      error: agentError(typeof status === "number" ? `API Error: ${status} ${words}` : words),
    });
  }

  #note(more: Partial<AgentReport>, shown = ""): string {
    this.report = { ...this.report, ...more };
    return shown;
  }
}

/** Cached tokens and reasoning are counted beside the input and the output. */
function usageOf(tokens: unknown): TokenUsage | null {
  if (!isJsonObject(tokens)) return null;
  const cache = fieldsOf(tokens["cache"]);
  const [cachedInputTokens, cacheWriteTokens] = [countOf(cache["read"]), countOf(cache["write"])];
  const reasoningTokens = countOf(tokens["reasoning"]);
  return {
    ...noUsage,
    inputTokens: countOf(tokens["input"]) + cachedInputTokens + cacheWriteTokens,
    cachedInputTokens,
    cacheWriteTokens,
    outputTokens: countOf(tokens["output"]) + reasoningTokens,
    reasoningTokens,
  };
}
