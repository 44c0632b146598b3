import { isJsonObject, type JsonObject } from "../../../domain/json.ts";
import { noUsage, type TokenUsage } from "../../../domain/usage.ts";
import { agentError, isHopeless } from "../agent-error.ts";
import { type AgentReport, type EventReader, noReport, textOf } from "../agent-events.ts";
import { type AgentLaunch, type LaunchOptions, modelFlag } from "../agent-launch.ts";
import { type AgentUse, countOf, plus, unnamedModel } from "../agent-use.ts";
import { fieldsOf, filesBelow, type Transcript } from "../transcript.ts";

const ownSandboxes = { read: "read-only", edit: "workspace-write", full: "danger-full-access" } as const;

export function launchCodex({ model, permissions, isConfined, env }: LaunchOptions): AgentLaunch {
  const { OPENAI_API_KEY: key, OPENAI_BASE_URL: address } = env;
  return {
    argv: [
      ..."codex exec --json --skip-git-repo-check".split(" "),
      ...(isConfined
        ? ["--dangerously-bypass-approvals-and-sandbox"]
        : ["--sandbox", ownSandboxes[permissions]]),
      ...modelFlag("-m", model),
      ...(address === undefined ? [] : settings(address)),
    ],
    ...(key !== undefined && { env: { CODEX_API_KEY: key } }),
  };
}

const asksForSandbox = /^(?:(?:--sandbox|-s)[= ]?(?:workspace-write|read-only)|--full-auto)$/;

/** Its own sandbox cannot start within another one: it would run no command, and still be paid. */
export function codexCannotRun(argv: readonly string[]): string | undefined {
  const words = argv.map((word, index) =>
    word === "--sandbox" || word === "-s" ? `${word} ${argv[index + 1]}` : word,
  );
  const found = words.find((word) => asksForSandbox.test(word));
  return found && `${found} starts a sandbox of Codex's own, which cannot start inside Maestro's`;
}

/** It takes the address of its server from its settings alone. */
function settings(address: string): readonly string[] {
  const provider = `{name="server",base_url=${JSON.stringify(address)},wire_api="responses",env_key="OPENAI_API_KEY"}`;
  return ["-c", "model_provider=server", "-c", `model_providers.server=${provider}`];
}

/** `resume` is a command of `exec`, behind all of its options; the prompt is on stdin, which may be written as "-". */
export function resumeCodex(argv: readonly string[], session: string): readonly string[] | undefined {
  if (!argv.includes("exec") || argv.includes("resume") || argv.includes("--ephemeral")) return undefined;
  const options = argv.at(-1) === "-" ? argv.slice(0, -1) : argv;
  return [...options, "resume", session, "-"];
}

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
        return this.#note({
          error: agentError(textOf(fieldsOf(event["error"])["message"]) ?? "the turn failed"),
        });
      case "error":
        return this.#error(textOf(event["message"]) ?? "it failed");
      case "turn.started":
      case "item.started":
      case "item.updated":
        return "";
      case null:
      default:
        return undefined;
    }
  }

  /** It names the failure of a request that it repeats: "Reconnecting... 2/5 (unexpected status 401 ...)". */
  #error(message: string): string {
    const [, tries, cause] = /^Reconnecting\.\.\. (\d+)\/\d+ \((.*)\)$/s.exec(message) ?? [];
    const error = agentError(cause ?? message);
    if (tries === undefined) return this.#note({ error });
    // A server without WebSockets refuses them; it then uses HTTPS.
    const isRefused = isHopeless(error, Number(tries), 0) && !cause?.includes("url: ws");
    return this.#note({ error, ...(isRefused && { refusal: error }) }, `${message}\n`);
  }

  #item({ item }: JsonObject): string {
    const text = isJsonObject(item) && item["type"] === "agent_message" ? textOf(item["text"]) : null;
    return text === null ? "" : this.#note({ text }, text);
  }

  /** Of the whole thread, also of earlier runs. A turn that ends well has got over its errors. */
  #usage(event: JsonObject): string {
    const error = event["type"] === "turn.completed" ? { error: null } : {};
    const usage = usageOf(event["usage"]);
    if (usage === null) return this.#note(error);
    return this.#note({
      ...error,
      use: { byModel: new Map([[unnamedModel, usage]]), costMicroUsd: null },
    });
  }

  #note(more: Partial<AgentReport>, shown = ""): string {
    this.report = { ...this.report, ...more };
    return shown;
  }
}

/** Cached tokens are part of the input. */
function usageOf(usage: unknown): TokenUsage | null {
  if (!isJsonObject(usage)) return null;
  return {
    ...noUsage,
    inputTokens: countOf(usage["input_tokens"]),
    cachedInputTokens: countOf(usage["cached_input_tokens"]),
    cacheWriteTokens: countOf(usage["cache_write_input_tokens"]),
    outputTokens: countOf(usage["output_tokens"]),
    reasoningTokens: countOf(usage["reasoning_output_tokens"]),
  };
}

/** Its rollouts, one for each thread: a line after each answer has the sum of its thread. */
export async function readCodex(home: string, session: string): Promise<Transcript> {
  const threads = new Map<string, AgentUse>();
  let [thread, model] = ["", unnamedModel];
  let isOfSession = false;
  for await (const { type, payload } of filesBelow(
    home,
    [".codex", "sessions"],
    (path) => path.at(-1)?.endsWith(".jsonl") === true,
  )) {
    const fields = fieldsOf(payload);
    if (type === "session_meta") {
      thread = textOf(fields["id"]) ?? "";
      model = unnamedModel;
      isOfSession = thread === session || fields["session_id"] === session;
    }
    if (type === "turn_context") model = textOf(fields["model"]) ?? model;
    if (type !== "event_msg" || fields["type"] !== "token_count" || !isOfSession) continue;
    const sum = usageOf(fieldsOf(fields["info"])["total_token_usage"]);
    if (sum !== null) threads.set(thread, { byModel: new Map([[model, sum]]), costMicroUsd: null });
  }
  const byModel = new Map<string, TokenUsage>();
  for (const use of threads.values())
    for (const [name, usage] of use.byModel) byModel.set(name, plus(byModel.get(name) ?? noUsage, usage));
  const own = threads.get(session)?.byModel.values().next().value;
  const restored = own === undefined ? new Map() : new Map([[unnamedModel, own]]);
  return { used: { byModel, costMicroUsd: null }, restored: { byModel: restored, costMicroUsd: null } };
}
