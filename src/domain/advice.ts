/** A next step for a person. `command` is the argument vector, program first. Renderers quote it for their shell. */
export type Advice = {
  readonly text: string;
  readonly command: readonly string[] | null;
};

export const advise = (text: string, ...command: readonly string[]): Advice => ({
  text,
  command: command.length === 0 ? null : ["maestro", ...command],
});

/** A notice for a person, with the commands that help. */
export type Notify = (notice: string, actions?: readonly Advice[]) => void;

/** Quotes a command of Maestro so that it finds this state directory. */
export type CommandFor = (...words: readonly string[]) => string;

export interface CommandPlace {
  /** How Maestro is started here: "maestro", "npx maestro-hive". */
  readonly start?: string;
  /** Added if it is not the default one, so that the command finds the session. */
  readonly stateDir?: string | undefined;
}

/** A command in the form that a shell parses back. */
export function shellCommand(command: readonly string[], { start, stateDir }: CommandPlace = {}): string {
  const [program = "", ...words] = command;
  if (program !== "maestro") return command.map(quote).join(" ");
  const isPlaced = stateDir === undefined || words.includes("--state-dir");
  const where = isPlaced ? [] : ["--state-dir", stateDir];
  return [start ?? quote(program), ...[...words, ...where].map(quote)].join(" ");
}

/** A placeholder is not quoted: pasted unchanged, it is a syntax error instead of a file with that name. */
const placeholder = /^(?:(?:[\w.-]+|<phase>)=)?<(?:brief|file|folder|phase|session|dependency|n)>$/;

/** A shell gets it in quotes, and a rejection refuses it. */
export const notePlaceholder = "<what to change>";

/** Whether a text is a placeholder that was pasted unchanged: only dots, or one pair of angle brackets. */
export const isPlaceholder = (text: string): boolean => /^(?:[.…]+|<[^<>]*>)$/.test(text.trim());

export function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) || placeholder.test(word)
    ? word
    : `'${word.replaceAll("'", "'\\''")}'`;
}

/** One line for logs and plain errors; terminals and pages show the command on a line of its own. */
export function adviceLine({ text, command }: Advice, place?: CommandPlace): string {
  return command === null ? text : `${text}: ${shellCommand(command, place)}`;
}

/** A text without a command is its own sentence. A command ends at a semicolon. */
export function adviceText(actions: readonly Advice[], place?: CommandPlace): string {
  return actions
    .map((advice, index) => {
      const isLast = index === actions.length - 1;
      return adviceLine(advice, place) + (isLast || advice.command === null ? "" : ";");
    })
    .join(" ");
}

/**
 * The name of a session in a command: its key, unless that looks like a flag or placeholder or has invisible
 * characters.
 */
export function nameOf({
  key,
  id,
}: {
  readonly key?: string | null | undefined;
  readonly id: string;
}): string {
  return key == null || /^[-<]|\p{C}/u.test(key) ? id : key;
}
