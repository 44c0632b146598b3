import { InputInvalid } from "../../domain/errors.ts";
import { isGitAddress } from "../../domain/git-address.ts";
import type { SessionState } from "../../journal/session-state.ts";
import type { ExtraFiles } from "../../workspace/extra-files.ts";

/** The files that only checks and setup get, from the repository that the session began with. */
export async function readChecksOnly(
  { id, created: { source }, imported }: SessionState,
  stateDirectory: string,
): Promise<ExtraFiles> {
  if (source?.checksOnly === undefined) return new Map();
  // The path in an import is one of another machine, or of a stranger's choice.
  if (imported !== undefined)
    throw new InputInvalid(
      `Checks of session ${id} need ${source.checksOnly.join(", ")} of its repository, which an imported session does not have.`,
      { advice: "Start a new session on the repository." },
    );
  const { readFiles } = await import("../../workspace/repository/checks-only.ts");
  const { git, commit, checksOnly: paths, workingTree: isWorkingTree = false } = source;
  const folder = await folderOf(git, commit, stateDirectory);
  return readFiles({ folder, commit, isWorkingTree, paths });
}

/** The folder of the session's repository: the clone, where it was fetched from an address. */
export async function folderOf(git: string, commit: string, stateDirectory: string): Promise<string> {
  if (!isGitAddress(git)) return git;
  const { cloneFolder } = await import("../../workspace/repository/clone.ts");
  return cloneFolder(stateDirectory, git, commit);
}
