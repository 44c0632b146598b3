import type { AgentName } from "./agent.ts";
import type { EventReader } from "./agent-events.ts";
import type { AgentLaunch, LaunchOptions } from "./agent-launch.ts";
import { ClaudeEvents, launchClaude, readClaude, resumeClaude } from "./agents/claude.ts";
import { CodexEvents, codexCannotRun, launchCodex, readCodex, resumeCodex } from "./agents/codex.ts";
import { GeminiEvents, launchGemini, readGemini } from "./agents/gemini.ts";
import { launchOpencode, OpencodeEvents } from "./agents/opencode.ts";
import type { Transcript } from "./transcript.ts";

/** Everything that Maestro knows about one agent. */
export interface KnownAgent {
  /** Starts it where a team names it. */
  readonly launch: (options: LaunchOptions) => AgentLaunch;
  /** Why a team's own command line cannot work in Maestro's sandbox; undefined when it can. */
  readonly cannotRun?: (argv: readonly string[]) => string | undefined;
  /** Reads what it prints. */
  readonly events: () => EventReader;
  /** The command line that resumes a conversation; undefined where the team's own one forbids it. */
  readonly resume?: (argv: readonly string[], session: string) => readonly string[] | undefined;
  /** Reads what it wrote down of a conversation in its home. */
  readonly transcript?: (home: string, session: string) => Promise<Transcript>;
}

/** In the order in which they are asked whether an event is theirs. */
export const knownAgents: Readonly<Record<AgentName, KnownAgent>> = {
  claude: {
    launch: launchClaude,
    events: () => new ClaudeEvents(),
    resume: resumeClaude,
    transcript: readClaude,
  },
  opencode: { launch: launchOpencode, events: () => new OpencodeEvents() },
  gemini: { launch: launchGemini, events: () => new GeminiEvents(), transcript: readGemini },
  codex: {
    launch: launchCodex,
    cannotRun: codexCannotRun,
    events: () => new CodexEvents(),
    resume: resumeCodex,
    transcript: readCodex,
  },
};

/** The form of a conversation id. It comes from an agent's output and goes into a command line: never an option. */
const sessionName = /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/;

export const isSessionName = (session: string): boolean => sessionName.test(session);
