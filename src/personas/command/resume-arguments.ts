import { knownAgent } from "./agent-name.ts";

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
