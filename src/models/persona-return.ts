import type { StepResult, ToolSet } from "ai";
import type { Json } from "../domain/json.ts";

export interface Decision {
  readonly decision: string;
  readonly reason: string;
  readonly rejected?: readonly string[];
}

/** What a model submits, and what an agent says at its end. */
export interface PersonaReturn {
  readonly summary: string;
  readonly outputs: Readonly<Record<string, Json>>;
  readonly decisions: readonly Decision[];
}

/** The submission in an answer, if there is one. */
export function submissionOf({
  toolCalls,
}: StepResult<ToolSet>): { readonly toolCallId: string; readonly result: PersonaReturn } | undefined {
  const call = toolCalls.find(({ toolName, invalid }) => toolName === "submit" && invalid !== true);
  if (call === undefined) return undefined;
  const { summary, outputs, decisions } = call.input as Partial<PersonaReturn>;
  const result = { summary: summary ?? "", outputs: outputs ?? {}, decisions: decisions ?? [] };
  return { toolCallId: call.toolCallId, result };
}
