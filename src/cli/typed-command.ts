import { commandLine as commandOfMaestro, quote } from "../domain/command-line.ts";
import { howStarted } from "./how-started.ts";

/** Commands as texts name them. */
const names =
  "run|resume|phase|fork|serve|demo|sessions|show|watch|checkpoints|usage|tickets|approve|reject|pause|cancel|budget|breakers|init|doctor|prune|config";
const special = /[\\^$.*+?()[\]{}|]/g;

/** A command with what belongs to it, in a sentence: up to where the sentence goes on. Not one that says how to start it. */
const inText = (start: string): RegExp =>
  new RegExp(
    `(?<![\\w/]|npx )${start.replaceAll(special, "\\$&")} (?:${names})\\b[^;\`\\n]*?(?=[;\`)]|,? (?:or|then|if|&&) |[.,] |[.,]?$)`,
    "gm",
  );

/** A command to be pasted as it is, started as this process was. */
export function commandLine(...parts: Parameters<typeof commandOfMaestro>): string {
  return commandOfMaestro(...parts).replace("maestro", () => howStarted());
}

/** What a command calls a session: its key, unless that reads as a flag or has signs that nobody sees. */
export function nameOf({
  key,
  id,
}: {
  readonly key?: string | null | undefined;
  readonly id: string;
}): string {
  return key == null || /^-|\p{C}/u.test(key) ? id : key;
}

export function resumeCommand(session: string, stateDir: string | undefined): string {
  return commandLine("resume", session, stateDir);
}

/** A text for people, its commands so that they can be pasted: started as this process was, with its state directory. */
export function pasteable(text: string, stateDir = stateDirFlag(), start = howStarted()): string {
  return text.replaceAll(inText("maestro"), (command) => {
    const where =
      stateDir === undefined || command.includes("--state-dir") ? "" : ` --state-dir ${quote(stateDir)}`;
    return command.replace(/^maestro (\S+)/, (_, name: string) => `${start} ${name}${where}`);
  });
}

/** Errors are explained where no command's options are known any more. */
function stateDirFlag(argv: readonly string[] = process.argv): string | undefined {
  const at = argv.findLastIndex((word) => word === "--state-dir" || word.startsWith("--state-dir="));
  if (at === -1) return undefined;
  return argv[at] === "--state-dir" ? argv[at + 1] : argv[at]?.slice("--state-dir=".length);
}

/** The words of a text; a command to be pasted is one, with the spaces in it. */
export function wordsOf(text: string, start = howStarted()): readonly string[] {
  return text
    .replaceAll(inText(start), (command) => command.replaceAll(" ", "\0"))
    .split(/[^\S\0]+/)
    .filter((word) => word !== "")
    .map((word) => word.replaceAll("\0", " "));
}
