type Word = string | false | undefined;

/** Quotes one argument for a POSIX shell. */
const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

/** A `maestro` command to paste. False and undefined arguments are left out. */
export function shellCommand(words: readonly Word[], stateDirectory: string | null): string {
  const where = stateDirectory === null ? [] : ["--state-dir", stateDirectory];
  const said = words.filter((word) => word !== false && word !== undefined);
  return ["maestro", ...said, ...where].map(quoted).join(" ");
}

/** The name of a session in a command: its key, unless the key looks like a flag or has invisible characters. */
export function commandName({ key, id }: { readonly key: string | null; readonly id: string }): string {
  return key === null || /^-|\p{C}/u.test(key) ? id : key;
}

/** "--edit design=edit.json": with more than one, each its own file. */
export function editFlags(phases: readonly string[]): readonly string[] {
  return phases.flatMap((phase) => ["--edit", `${phase}=${phases.length === 1 ? "edit" : phase}.json`]);
}
