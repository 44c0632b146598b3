import { screenOf } from "./terminal/screen.ts";
import { stopSpinner } from "./terminal/spinner.ts";
import { type Column, table } from "./terminal/table.ts";
import { wrapWords } from "./terminal/width.ts";
import { wordsOf } from "./typed-command.ts";

export { quote } from "../domain/advice.ts";
export { commandLine, nameOf, pasteable, resumeCommand, stateDirFlag } from "./typed-command.ts";

/** Results go to standard output, everything else to standard error. */
export function print(text: string): void {
  stopSpinner();
  process.stdout.write(`${text}\n`);
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value));
}

export function say(text: string): void {
  stopSpinner();
  process.stderr.write(`${text}\n`);
}

/** Wraps between words; a terminal would break within one. */
export function sayWrapped(text: string): void {
  for (const line of folded(text, screenOf(process.stderr).columns)) say(line);
}

/** Folds sentences and keeps commands whole. */
export function sayLines(lines: readonly { readonly text: string; readonly isCommand: boolean }[]): void {
  for (const { text, isCommand } of lines) {
    if (isCommand) say(text);
    else sayWrapped(text);
  }
}

export function printWrapped(text: string): void {
  for (const line of folded(text, screenOf(process.stdout).columns)) print(line);
}

/** Wraps between words. A command to paste stays on one line, however long. */
export function folded(text: string, columns: number): readonly string[] {
  return text.split("\n").flatMap((line) => {
    if (!Number.isFinite(columns) || line.trim() === "") return [line];
    const [indent = ""] = /^ */.exec(line) ?? [];
    return wrapWords(wordsOf(line), columns - indent.length).map((piece) => indent + piece);
  });
}

export function printTable(columns: readonly Column[], rows: readonly (readonly string[])[]): void {
  print(table(columns, rows, screenOf(process.stdout).columns));
}
