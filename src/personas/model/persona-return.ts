import type { StepResult, ToolSet } from "ai";
import type { Json } from "../../domain/json.ts";
import { namedTools } from "../tools/tool-table.ts";

export interface Decision {
  readonly decision: string;
  readonly reason: string;
  readonly rejected?: readonly string[];
}

/** The submission of a model, or the last message of an agent. */
export interface PersonaReturn {
  readonly summary: string;
  readonly outputs: Readonly<Record<string, Json>>;
  readonly decisions: readonly Decision[];
}

/** The calls of an answer that submit something; a wrong one was answered already. */
export function submitCalls({ toolCalls }: StepResult<ToolSet>): StepResult<ToolSet>["toolCalls"] {
  return toolCalls.filter(({ toolName, invalid }) => toolName === namedTools.submit && invalid !== true);
}

/** The submission in an answer, if there is one: of several the first. */
export function submissionOf(answer: StepResult<ToolSet>): PersonaReturn | undefined {
  const [call] = submitCalls(answer);
  if (call === undefined) return undefined;
  const { summary, outputs, decisions } = call.input as Partial<PersonaReturn>;
  return { summary: summary ?? "", outputs: outputs ?? {}, decisions: decisions ?? [] };
}
