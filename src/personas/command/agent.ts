import { basename } from "node:path";
import { sha256 } from "../../domain/canonical.ts";

/** Agents whose events and command lines are known. */
export const agentNames = ["claude", "codex", "gemini", "opencode"] as const;
export type AgentName = (typeof agentNames)[number];

/** The variables that an agent needs where a team names it: its key or login, and the address of its provider. */
export const agentVariables: Readonly<Record<AgentName, readonly string[]>> = {
  claude: ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "CLAUDE_CODE_OAUTH_TOKEN"],
  codex: ["CODEX_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL"],
  gemini: ["GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL"],
  opencode: ["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "OPENAI_API_KEY", "OPENAI_BASE_URL"],
};

/** Where an agent keeps its login, below the user's home. A persona that uses it names its folder as `writable`. */
export const agentLogins: Readonly<Record<AgentName, string>> = {
  claude: ".claude/.credentials.json",
  codex: ".codex/auth.json",
  gemini: ".gemini/oauth_creds.json",
  opencode: ".local/share/opencode/auth.json",
};

const agents: ReadonlyMap<string, AgentName> = new Map([
  ["claude", "claude"],
  ["claude-code", "claude"],
  ["codex", "codex"],
  ["gemini", "gemini"],
  ["gemini-cli", "gemini"],
  ["opencode", "opencode"],
  ["opencode-ai", "opencode"],
]);

/** Programs that say nothing by themselves about what they run. */
const runners = /^(?:bash|bun|bunx|dash|deno|env|node|npm|npx|pnpm|pnpx|python[\d.]*|sh|uv|uvx|yarn|zsh)$/;

/** The agent of a command line, also behind a runner: `npx @openai/codex@latest exec`. */
export function agentNamed(argv: readonly string[]): AgentName | undefined {
  const [program = "", ...rest] = argv.map(nameOf);
  const named = runners.test(program) ? [program, ...rest] : [program];
  return named.flatMap((name) => agents.get(name) ?? [])[0];
}

/**
 * The name of a command in breakers and reports: the agent, not the shell or the runner that starts it. Two commands share
 * a name, and so a breaker, only when they run the same program.
 */
export function commandName(argv: readonly string[]): string {
  const [program = "", ...rest] = argv;
  const name = nameOf(program);
  const known = agentNamed(argv);
  if (known !== undefined) return `command/${known}`;
  if (!runners.test(name)) return `command/${name}`;
  const script = rest.find((word) => !word.startsWith("-"));
  const isPlain = script !== undefined && /^[\w@./-]{1,100}$/.test(script);
  return `command/${name}:${isPlain ? nameOf(script) : sha256(JSON.stringify(argv)).slice(0, 8)}`;
}

/** Without its folder and its version. */
const nameOf = (word: string): string =>
  basename(word)
    .replace(/@[^@]*$/, "")
    .slice(0, 100) || word.slice(0, 100);
