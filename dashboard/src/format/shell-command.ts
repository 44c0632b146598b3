import { shellCommand as quoteCommand } from "../../../src/domain/advice.ts";

export { nameOf as commandName } from "../../../src/domain/advice.ts";

type Word = string | false | undefined;

/** A `maestro` command to paste. False and undefined arguments are left out. */
export function shellCommand(words: readonly Word[], stateDirectory: string | null): string {
  const given = words.filter((word) => word !== false && word !== undefined);
  return quoteCommand(["maestro", ...given], { stateDir: stateDirectory ?? undefined });
}

/** "--edit design=edit.json". With several phases, each has its own file. */
export function editFlags(phases: readonly string[]): readonly string[] {
  return phases.flatMap((phase) => ["--edit", `${phase}=${phases.length === 1 ? "edit" : phase}.json`]);
}
