import { commandName, type shellCommand } from "../format/shell-command.ts";

type Command = (...words: Parameters<typeof shellCommand>[0]) => string;

/** The command of the approve and reject buttons, without the resume that follows it. */
export function reviewCommand(
  command: Command,
  view: { readonly key: string | null; readonly id: string },
  word: "approve" | "reject",
  phase: string,
  note: string,
): string {
  const name = commandName(view);
  const text = note === "" && word === "reject" ? "..." : note;
  const flags = ["--phase", phase, ...(text === "" ? [] : ["--note", text])];
  return command(word, name, ...flags);
}
