import type { ModelMessage, StepResult, ToolSet } from "ai";

export type Steps = readonly StepResult<ToolSet>[];

const sameErrors = 3;
const maxErrorLength = 2000;

interface ToolCall {
  readonly toolName: string;
  readonly invalid?: boolean | undefined;
  readonly error?: unknown;
}

/** Calls that never reached a tool, unknown names and arguments that do not fit, again and again. */
export function repeatedWrongCall(steps: Steps): string | undefined {
  const seen = new Map<string, number>();
  for (const { invalid, error, toolName } of steps.flatMap(
    ({ toolCalls }): readonly ToolCall[] => toolCalls,
  )) {
    if (invalid !== true) continue;
    const message = `${toolName}: ${String((error as Error | undefined)?.message)}`;
    const times = (seen.get(message) ?? 0) + 1;
    seen.set(message, times);
    if (times >= sameErrors)
      return `made the same wrong call ${times} times: ${message.slice(0, 500).toWellFormed()}`;
  }
  return undefined;
}

/** The SDK quotes wrong arguments in full; a file of a megabyte need not be in the conversation twice. */
export function withShortErrors(messages: readonly ModelMessage[]): ModelMessage[] {
  return messages.map((message) => {
    if (message.role !== "tool") return message;
    const content = message.content.map((part) =>
      part.type === "tool-result" && part.output.type === "error-text"
        ? { ...part, output: { ...part.output, value: shorten(part.output.value) } }
        : part,
    );
    return { ...message, content };
  });
}

/** The reason stands at the end, behind what it quotes. */
function shorten(text: string): string {
  if (text.length <= maxErrorLength) return text;
  const half = maxErrorLength / 2;
  return `${text.slice(0, half)} […] ${text.slice(-half)}`.toWellFormed();
}
