/** How to say a command so that it works where this state is. */
export type CommandFor = (command: string, argument: string) => string;

/** A command of Maestro, to be pasted as it is; with the state directory where that is not the usual one. */
export function commandLine(
  command: string,
  argument: string,
  stateDir: string | undefined,
  ...more: readonly string[]
): string {
  const where = stateDir === undefined ? [] : ["--state-dir", quote(stateDir)];
  return ["maestro", command, quote(argument), ...more, ...where].join(" ");
}

/** As a shell reads it back. */
export function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
