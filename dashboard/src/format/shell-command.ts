type Word = string | false | undefined;

/** One word as a shell reads it back, whatever is in it. */
const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

/** A command of Maestro, to be pasted as it is. Words that are false or undefined are left out. */
export function shellCommand(words: readonly Word[], stateDirectory: string | null): string {
  const where = stateDirectory === null ? [] : ["--state-dir", stateDirectory];
  const said = words.filter((word) => word !== false && word !== undefined);
  return ["maestro", ...said, ...where].map(quoted).join(" ");
}

/** What a command calls a session: its key, unless that reads as a flag or has signs that nobody sees. */
export function commandName({ key, id }: { readonly key: string | null; readonly id: string }): string {
  return key === null || /^-|\p{C}/u.test(key) ? id : key;
}

/** "--edit design=edit.json": with more than one, each its own file. */
export function editFlags(phases: readonly string[]): readonly string[] {
  return phases.flatMap((phase) => ["--edit", `${phase}=${phases.length === 1 ? "edit" : phase}.json`]);
}
