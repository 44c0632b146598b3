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
  let last = "";
  let times = 0;
  for (const { invalid, error, toolName } of steps.flatMap(
    ({ toolCalls }): readonly ToolCall[] => toolCalls,
  )) {
    const message = invalid === true ? `${toolName}: ${String((error as Error | undefined)?.message)}` : "";
    times = message !== "" && message === last ? times + 1 : 1;
    last = message;
    if (message !== "" && times >= sameErrors)
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
