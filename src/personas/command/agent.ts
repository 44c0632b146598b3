import { basename } from "node:path";
import { sha256 } from "../../domain/canonical.ts";

/** Agents whose events and command lines are known. */
type KnownAgent = "claude" | "codex";

const agents: ReadonlyMap<string, KnownAgent> = new Map([
  ["claude", "claude"],
  ["claude-code", "claude"],
  ["codex", "codex"],
]);

/** Programs that say nothing by themselves about what they run. */
const runners = /^(?:bash|bun|bunx|dash|deno|env|node|npm|npx|pnpm|pnpx|python[\d.]*|sh|uv|uvx|yarn|zsh)$/;

/** The agent of a command line, also behind a runner: `npx @openai/codex@latest exec`. */
function knownAgent(argv: readonly string[]): KnownAgent | undefined {
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
  const known = knownAgent(argv);
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

/** The form of a conversation id. It comes from an agent's output and goes into a command line: never an option. */
const sessionName = /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/;

/** The team chose a conversation of its own. */
const choosesClaude =
  /^(?:--resume|-r|--continue|-c|--session-id|--no-session-persistence|--fork-session)(?:=|$)/;

/** The command line that resumes the conversation; undefined for an agent without a known way to resume. */
export function resumeArguments(argv: readonly string[], session: string): readonly string[] | undefined {
  if (!sessionName.test(session)) return undefined;
  switch (knownAgent(argv)) {
    case "claude":
      return argv.some((word) => choosesClaude.test(word)) ? undefined : [...argv, "--resume", session];
    case "codex":
      return resumeCodex(argv, session);
    case undefined:
      return undefined;
  }
}

/** `resume` is a command of `exec`, behind all of its options; the prompt is on stdin, which may be written as "-". */
function resumeCodex(argv: readonly string[], session: string): readonly string[] | undefined {
  if (!argv.includes("exec") || argv.includes("resume") || argv.includes("--ephemeral")) return undefined;
  const options = argv.at(-1) === "-" ? argv.slice(0, -1) : argv;
  return [...options, "resume", session, "-"];
}
