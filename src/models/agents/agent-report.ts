import type { Money } from "../../domain/budget.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { TokenUsage } from "../../domain/usage.ts";
import type { AgentError } from "./agent-error.ts";

/** What an agent's own output says of its work; `null` where it does not say. */
export interface AgentReport {
  /** Its last word. */
  readonly text: string;
  readonly usage: TokenUsage | null;
  readonly costMicroUsd: Money | null;
  /** What the agent calls the conversation; it can be gone on with. */
  readonly cliSession: string | null;
  /** What it says went wrong. */
  readonly error: AgentError | null;
}

/** Understands the events of one agent; the lines are JSON objects. */
export interface EventReader {
  /** Text for people who watch; `undefined` when the event is not of this agent. */
  read(event: JsonObject): string | undefined;
  readonly report: AgentReport;
}

export const noReport: AgentReport = {
  text: "",
  usage: null,
  costMicroUsd: null,
  cliSession: null,
  error: null,
};

/** Counts from outside: none when it is no count. */
export const countOf = (value: unknown): number =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : 0;

export const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null);
