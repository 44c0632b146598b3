import { screenOf } from "./terminal/screen.ts";
import { type Column, table } from "./terminal/table.ts";
import { wrap } from "./terminal/width.ts";

/** Results go to standard output, everything else to standard error. */
export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value));
}

export function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** For longer texts: broken between words, where a terminal would break within one. */
export function sayWrapped(text: string): void {
  for (const line of folded(text, screenOf(process.stderr).columns)) say(line);
}

export function printWrapped(text: string): void {
  for (const line of folded(text, screenOf(process.stdout).columns)) print(line);
}

/** What is meant to be pasted stays on one line, however long. */
export function folded(text: string, columns: number): readonly string[] {
  return text.split("\n").flatMap((line) => {
    if (!Number.isFinite(columns) || line === "" || /\bmaestro [a-z]/.test(line)) return [line];
    const [indent = ""] = /^ */.exec(line) ?? [];
    return wrap(line, columns - indent.length).map((piece) => indent + piece);
  });
}

export function printTable(columns: readonly Column[], rows: readonly (readonly string[])[]): void {
  print(table(columns, rows, screenOf(process.stdout).columns));
}

/** To be pasted as it is. */
export function commandLine(
  command: string,
  argument: string,
  stateDir: string | undefined,
  ...more: readonly string[]
): string {
  const where = stateDir === undefined ? [] : ["--state-dir", quote(stateDir)];
  return [program(), command, quote(argument), ...more, ...where].join(" ");
}

/** As it was called: who has it from npx has no "maestro" on the path. */
function program(): string {
  return process.env["npm_command"] === "exec" ? "npx maestro" : "maestro";
}

export function resumeCommand(session: string, stateDir: string | undefined): string {
  return commandLine("resume", session, stateDir);
}

/** As a shell reads it back. */
export function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
