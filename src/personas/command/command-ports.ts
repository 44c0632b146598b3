import type { Budget } from "../../domain/budget.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { TokenUsage } from "../../domain/usage.ts";
import type { RunStep } from "../../journal/durable-step.ts";
import type { CommandPlace, RunCommand, ToolFiles } from "../model/ports.ts";

export const defaultCommandTimeoutMs = 3_600_000;

export interface CommandPersonaPorts {
  /** Program and arguments. */
  readonly argv: readonly string[];
  /** What the team wrote: the step is found again by it. */
  readonly written: JsonObject;
  /** A hash of the skills in its home. */
  readonly skills?: string | undefined;
  readonly runStep: RunStep;
  readonly runCommand: RunCommand;
  readonly place: CommandPlace;
  readonly files: Pick<ToolFiles, "hash" | "reapply">;
  readonly signal: AbortSignal;
  /** Keys that the agent needs; they are neither recorded nor part of what the step is found again by. */
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** The declared maximum of one run: its cost cannot be known beforehand. */
  readonly reserve?: Budget;
  readonly persona: string;
  readonly sessionId: string;
  readonly onText?: (text: string) => void;
  /** The price of a model's tokens, by provider/model. */
  readonly priceOf?: (model: string, usage: TokenUsage) => Promise<number | null>;
}
