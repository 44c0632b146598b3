import { type Advice, shellCommand } from "../domain/advice.ts";
import { howStarted } from "./how-started.ts";
import { plain } from "./terminal/format.ts";

export { nameOf } from "../domain/advice.ts";

export interface AnswerLine {
  readonly text: string;
  /** A command is printed on one line, however long. */
  readonly isCommand: boolean;
}

/**
 * Set by the folder's configuration. A printed command may not read that file: it may be code, or run from
 * elsewhere.
 */
let folderStateDir: string | undefined;

export function nameStateDir(path: string): void {
  folderStateDir = path;
}

/** A command to paste unchanged, with the program name of this process. */
export function commandFor(stateDir: string | undefined, ...words: readonly string[]): string {
  return typed(["maestro", ...words], stateDir);
}

const typed = (command: readonly string[], stateDir: string | undefined): string =>
  shellCommand(command, { start: howStarted(), stateDir: stateDir ?? folderStateDir });

/** A sentence, and below it the command to paste. */
export function adviceLines(
  { text, command }: Advice,
  stateDir: string | undefined = stateDirFlag(),
): readonly AnswerLine[] {
  if (command === null) return [textLine(text)];
  return [textLine(`${text}:`), { text: `  ${plain(typed(command, stateDir))}`, isCommand: true }];
}

export const textLine = (text: string): AnswerLine => ({ text: plain(text), isCommand: false });

/** Errors are printed after a command's options are gone. */
export function stateDirFlag(argv: readonly string[] = process.argv): string | undefined {
  const at = argv.findLastIndex((word) => word === "--state-dir" || word.startsWith("--state-dir="));
  if (at === -1) return undefined;
  return argv[at] === "--state-dir" ? argv[at + 1] : argv[at]?.slice("--state-dir=".length);
}
