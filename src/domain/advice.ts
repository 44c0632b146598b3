/** What a person can do next. `command` is the argument vector, program first; renderers quote it for their shell. */
export type Advice = {
  readonly text: string;
  readonly command: readonly string[] | null;
};

export const advise = (text: string, ...command: readonly string[]): Advice => ({
  text,
  command: command.length === 0 ? null : ["maestro", ...command],
});

/** Quotes a command of Maestro so that it finds this state directory. */
export type CommandFor = (...words: readonly string[]) => string;

export interface CommandPlace {
  /** How Maestro is started here: "maestro", "npx maestro-hive". */
  readonly start?: string;
  /** Added where it is not the usual one, so that the command finds the session. */
  readonly stateDir?: string | undefined;
}

/** A command as a shell reads it back. */
export function shellCommand(command: readonly string[], { start, stateDir }: CommandPlace = {}): string {
  const [program = "", ...words] = command;
  const isPlaced = stateDir === undefined || words.includes("--state-dir");
  const where = isPlaced ? [] : ["--state-dir", stateDir];
  return [start ?? quote(program), ...[...words, ...where].map(quote)].join(" ");
}

export function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** One line for logs and plain errors; terminals and pages show the command on a line of its own. */
export function adviceLine({ text, command }: Advice, place?: CommandPlace): string {
  return command === null ? text : `${text}: ${shellCommand(command, place)}`;
}

export const adviceText = (actions: readonly Advice[]): string =>
  actions.map((advice) => adviceLine(advice)).join("; ");

/** The name that a command gives a session: its key, unless that reads as a flag or has invisible characters. */
export function nameOf({
  key,
  id,
}: {
  readonly key?: string | null | undefined;
  readonly id: string;
}): string {
  return key == null || /^-|\p{C}/u.test(key) ? id : key;
}
