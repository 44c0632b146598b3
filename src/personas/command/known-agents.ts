import type { AgentName } from "./agent.ts";
import type { EventReader } from "./agent-events.ts";
import { ClaudeEvents, readClaude, resumeClaude } from "./agents/claude.ts";
import { CodexEvents, readCodex, resumeCodex } from "./agents/codex.ts";
import { GeminiEvents, readGemini } from "./agents/gemini.ts";
import { OpencodeEvents } from "./agents/opencode.ts";
import type { Transcript } from "./transcript.ts";

/** Everything that Maestro knows about one agent. */
export interface KnownAgent {
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
    events: () => new ClaudeEvents(),
    resume: resumeClaude,
    transcript: readClaude,
  },
  opencode: { events: () => new OpencodeEvents() },
  gemini: { events: () => new GeminiEvents(), transcript: readGemini },
  codex: { events: () => new CodexEvents(), resume: resumeCodex, transcript: readCodex },
};

/** The form of a conversation id. It comes from an agent's output and goes into a command line: never an option. */
const sessionName = /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/;

export const isSessionName = (session: string): boolean => sessionName.test(session);
