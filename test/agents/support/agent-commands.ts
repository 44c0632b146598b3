import { join } from "node:path";
import type { LoopbackModels } from "../../support/loopback-models.ts";

export const agentNames = ["claude", "codex", "gemini", "opencode"] as const;
export type RealAgent = (typeof agentNames)[number];

export const agentBin = join(import.meta.dirname, "../node_modules/.bin");

export interface AgentCommand {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** A command line of each agent whose provider is this server. */
export function agentCommand(agent: RealAgent, { url, env }: LoopbackModels): AgentCommand {
  switch (agent) {
    case "claude": {
      const options = "--output-format stream-json --verbose --permission-mode acceptEdits";
      return {
        argv: `claude -p ${options} --model claude-sonnet-4-5`.split(" "),
        env: { ...pick(env, "ANTHROPIC"), CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" },
      };
    }
    case "codex": {
      const options = "--json --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox";
      const provider = `{name="loopback",base_url="${url}/v1",wire_api="responses",env_key="OPENAI_API_KEY"}`;
      const settings = `-c model_provider=loopback -c model_providers.loopback=${provider}`;
      return {
        argv: `codex exec ${options} -m gpt-5-codex ${settings}`.split(" "),
        env: pick(env, "OPENAI_API_KEY"),
      };
    }
    case "gemini": {
      const options = "--output-format stream-json --yolo -m gemini-2.5-pro";
      // Only its settings can say that it uses its key although its server has an address of its own.
      const settings = JSON.stringify({ security: { auth: { selectedType: "gemini-api-key" } } });
      const script = `mkdir -p ~/.gemini; echo '${settings}' > ~/.gemini/settings.json; exec "$0" "$@"`;
      return {
        argv: ["sh", "-c", script, join(agentBin, "gemini"), ...options.split(" ")],
        env: {
          GEMINI_API_KEY: env["GOOGLE_GENERATIVE_AI_API_KEY"] ?? "",
          GOOGLE_GEMINI_BASE_URL: url,
          GEMINI_CLI_TRUST_WORKSPACE: "true",
        },
      };
    }
    case "opencode":
      return {
        // With a title of its own it does not ask a model for one.
        argv: "opencode run --format json --title work -m anthropic/claude-sonnet-4-5".split(" "),
        env: {
          ...pick(env, "ANTHROPIC_API_KEY"),
          OPENCODE_DISABLE_AUTOUPDATE: "1",
          OPENCODE_DISABLE_MODELS_FETCH: "1",
          OPENCODE_CONFIG_CONTENT: JSON.stringify({
            provider: { anthropic: { options: { baseURL: `${url}/v1` } } },
            permission: "allow",
          }),
        },
      };
  }
}

const pick = (env: Readonly<Record<string, string>>, start: string): Record<string, string> =>
  Object.fromEntries(Object.entries(env).filter(([name]) => name.startsWith(start)));
