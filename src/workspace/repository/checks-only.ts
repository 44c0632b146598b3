import { InputInvalid } from "../../domain/errors.ts";
import { checkPath, showPath } from "../../domain/tree-path.ts";
import type { ExtraFiles } from "../extra-files.ts";
import { OpenFolder } from "../open-folder.ts";
import { readFile } from "../read-file.ts";
import { inFolder } from "../stat-no-follow.ts";
import type { Repository } from "./find-repository.ts";
import { Git } from "./git.ts";
import type { LeftOut } from "./list-files.ts";
import { forChecks } from "./read-repository.ts";

const limits = { files: 100, fileBytes: 1024 * 1024 } as const;

/**
 * The files for checks only: those excluded for it, and untracked files by name. Read once, so that a start fails
 * if one cannot be read.
 */
export async function findChecksOnly(
  repository: Repository,
  names: readonly string[],
  leftOut: readonly LeftOut[],
): Promise<readonly string[]> {
  const tracked = leftOut.filter(({ reason }) => reason === forChecks).map(({ path }) => path);
  const paths = [...new Set([...tracked, ...names.map((name) => checkPath(name))])].sort();
  if (paths.length > limits.files)
    throw new InputInvalid(
      `source.checksOnly names ${paths.length} files; at most ${limits.files} are possible.`,
    );
  const { root, commit, isWorkingTree } = repository;
  await readFiles({ folder: root, commit, isWorkingTree, paths });
  return paths;
}

interface WantedFiles {
  readonly folder: string;
  readonly commit: string;
  readonly isWorkingTree: boolean;
  readonly paths: readonly string[];
}

/** From the disk or the commit, like the session's start. They are kept in memory only. */
export async function readFiles({ folder, commit, isWorkingTree, paths }: WantedFiles): Promise<ExtraFiles> {
  const files = new Map<string, Buffer>();
  if (paths.length === 0) return files;
  const git = isWorkingTree ? undefined : await Git.in(folder);
  await using root = isWorkingTree ? await OpenFolder.open(folder) : undefined;
  for (const path of paths) {
    const content = root === undefined ? await inCommit(git, commit, path) : await onDisk(root, path);
    if (typeof content === "string")
      throw new InputInvalid(
        `${showPath(path)}, which source.checksOnly names, cannot be read from ${showPath(folder)}: ${content}.`,
        { advice: "Put the file there, or correct source.checksOnly in the team file.", details: { path } },
      );
    files.set(path, content);
  }
  return files;
}

async function onDisk(root: OpenFolder, path: string): Promise<Buffer | string> {
  const names = path.split("/");
  const name = names.pop() ?? "";
  try {
    const read = await inFolder(root, names, async (folder) => {
      await folder.statusOf(name);
      return readFile(folder, name, limits.fileBytes, { mayBeHardLink: true });
    });
    if (read === undefined) return "it does not exist";
    return read.kind === "read" ? read.content : read.reason;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return "it does not exist";
    if (code === "ELOOP" || code === "ENOTDIR") return "it is behind a link";
    throw error;
  }
}

async function inCommit(git: Git | undefined, commit: string, path: string): Promise<Buffer | string> {
  const listed = await git?.try(["ls-tree", "-z", "-l", "--full-tree", commit, "--", `:(literal)${path}`]);
  const [, oid, size] = /^100\d+ blob ([0-9a-f]+) +(\d+)\t/.exec(listed?.stdout.toString() ?? "") ?? [];
  if (git === undefined || oid === undefined) return `the commit ${commit.slice(0, 12)} does not have it`;
  if (Number(size) > limits.fileBytes) return `it has more than ${limits.fileBytes} bytes`;
  return git.run(["cat-file", "blob", oid]);
}
