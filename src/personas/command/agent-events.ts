import type { JsonObject } from "../../domain/json.ts";
import type { AgentError } from "./agent-error.ts";
import type { AgentUse } from "./agent-use.ts";

/** An agent's own report of its work; `null` for a member that it does not report. */
export interface AgentReport {
  /** Its last word. */
  readonly text: string;
  readonly use: AgentUse | null;
  /** The id by which the conversation can be resumed. */
  readonly cliSession: string | null;
  /** The error that it reports. */
  readonly error: AgentError | null;
  /** Set while it runs: its provider refuses what the agent's own repeats do not mend. */
  readonly refusal: AgentError | null;
}

/** Understands the events of one agent; the lines are JSON objects. */
export interface EventReader {
  /** Text for people who watch; `undefined` when the event is not of this agent. */
  read(event: JsonObject): string | undefined;
  readonly report: AgentReport;
}

export const noReport: AgentReport = { text: "", use: null, cliSession: null, error: null, refusal: null };

export const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null);
