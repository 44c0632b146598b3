import type { Log, LogLevel } from "../api/log/log.ts";
import { type Advice, adviceText, type Notify } from "../domain/advice.ts";
import { screenOf } from "./terminal/screen.ts";
import { stopSpinner } from "./terminal/spinner.ts";
import { type Column, table } from "./terminal/table.ts";
import { wrap } from "./terminal/width.ts";
import { type AnswerLine, adviceLines, commandFor, textLine } from "./typed-command.ts";

export { adviceLines, commandFor, nameOf, stateDirFlag } from "./typed-command.ts";

/** Results go to standard output, everything else to standard error. */
export function print(text: string): void {
  stopSpinner();
  process.stdout.write(`${text}\n`);
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value));
}

let log: Log | undefined;

/** From now on everything for standard error is an entry of the log. */
export function sayInLog(into: Log): void {
  log = into;
}

export function say(text: string, level: LogLevel = "info"): void {
  if (log !== undefined) return log({ level, message: text });
  stopSpinner();
  process.stderr.write(`${text}\n`);
}

/** Wraps between words; a terminal would break within one. */
export function sayWrapped(text: string, level?: LogLevel): void {
  for (const line of folded(text, screenOf(process.stderr).columns)) say(line, level);
}

/** Folds sentences and keeps commands whole. */
export function sayLines(lines: readonly AnswerLine[], level?: LogLevel): void {
  for (const { text, isCommand } of lines) {
    if (isCommand) say(text, level);
    else sayWrapped(text, level);
  }
}

export function printWrapped(text: string): void {
  for (const line of folded(text, screenOf(process.stdout).columns)) print(line);
}

/** Keeps a command to paste on one line with its text. */
export function sayCommand(text: string, stateDir: string | undefined, ...words: readonly string[]): void {
  say(`${text}: ${commandFor(stateDir, ...words)}`);
}

/** A notice and its advice. Notices contain file names and keys, which may contain control characters. */
export const noticeLines = (notice: string, actions: readonly Advice[] = []): readonly AnswerLine[] => [
  textLine(notice),
  ...actions.flatMap((advice) => adviceLines(advice)),
];

export const sayNotice: Notify = (notice, actions = []) => {
  if (log === undefined) sayLines(noticeLines(notice, actions));
  else log({ level: "warn", message: [notice, adviceText(actions)].join(" ").trim() });
};

/** Wraps between words, and keeps the indent of each line. */
export function folded(text: string, columns: number): readonly string[] {
  return text.split("\n").flatMap((line) => {
    if (!Number.isFinite(columns) || line.trim() === "") return [line];
    const [indent = ""] = /^ */.exec(line) ?? [];
    return wrap(line, columns - indent.length).map((piece) => indent + piece);
  });
}

export function printTable(columns: readonly Column[], rows: readonly (readonly string[])[]): void {
  print(table(columns, rows, screenOf(process.stdout).columns));
}
