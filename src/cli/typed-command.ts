import { nameOf, quote } from "../domain/advice.ts";
import { howStarted } from "./how-started.ts";

const special = /[\\^$.*+?()[\]{}|]/g;

/**
 * A command with its arguments inside a sentence. Texts call the product Maestro, so a lower-case maestro before a word is
 * always a command. One that already says how to start it is left alone.
 */
const inText = (start: string): RegExp =>
  new RegExp(
    `(?<![\\w/]|npx )${start.replaceAll(special, "\\$&")} [a-z]+\\b[^;\`\\n]*?(?=[;\`)]|,? (?:or|then|if|&&) |[.,] |[.,]?$)`,
    "gm",
  );

/** A command to be pasted as it is, started as this process was. */
export function commandLine(
  command: string,
  argument: string,
  stateDir: string | undefined,
  ...more: readonly string[]
): string {
  const where = stateDir === undefined ? [] : ["--state-dir", quote(stateDir)];
  return [howStarted(), command, quote(argument), ...more, ...where].join(" ");
}

export { nameOf };

export function resumeCommand(session: string, stateDir: string | undefined): string {
  return commandLine("resume", session, stateDir);
}

/** Rewrites the commands in a text so that they can be pasted: the way this process was started, with its state directory. */
export function pasteable(text: string, stateDir = stateDirFlag(), start = howStarted()): string {
  return text.replaceAll(inText("maestro"), (command) => {
    const where =
      stateDir === undefined || command.includes("--state-dir") ? "" : ` --state-dir ${quote(stateDir)}`;
    return command.replace(/^maestro (\S+)/, (_, name: string) => `${start} ${name}${where}`);
  });
}

/** Errors are explained where no command's options are known any more. */
export function stateDirFlag(argv: readonly string[] = process.argv): string | undefined {
  const at = argv.findLastIndex((word) => word === "--state-dir" || word.startsWith("--state-dir="));
  if (at === -1) return undefined;
  return argv[at] === "--state-dir" ? argv[at + 1] : argv[at]?.slice("--state-dir=".length);
}

/** Splits a text into words. A command to paste is one word, spaces included. */
export function wordsOf(text: string, start = howStarted()): readonly string[] {
  return text
    .replaceAll(inText(start), (command) => command.replaceAll(" ", "\0"))
    .split(/[^\S\0]+/)
    .filter((word) => word !== "")
    .map((word) => word.replaceAll("\0", " "));
}
