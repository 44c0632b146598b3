import { realpath, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { InputInvalid } from "../../domain/errors.ts";
import { showPath } from "../../domain/tree-path.ts";
import { Git } from "./git.ts";
import { stayWithin } from "./stay-within.ts";

/** A repository and the commit at which a session begins. */
export interface Repository {
  readonly git: Git;
  readonly root: string;
  readonly commit: string;
  readonly ref: string;
  /** True: read the files on the disk, including uncommitted changes. False: read the commit. */
  readonly isWorkingTree: boolean;
}

/** Finds the repository and commit of a folder. Refuses anything ambiguous before reading files. */
export async function findRepository(
  path: string,
  ref: string | undefined,
  /** Allowed real paths. Undefined: any. */
  within?: readonly string[],
): Promise<Repository> {
  const folder = await existingFolder(path);
  const git = await Git.in(folder);
  const found = await git.try(["rev-parse", "--is-bare-repository", "--is-inside-work-tree"]);
  if (found.code !== 0) throw noRepository(folder, found.stderr);
  const [isBare, isInside] = found.stdout.toString().trim().split("\n");
  if (isBare !== "true" && isInside !== "true")
    throw new InputInvalid(`${showPath(folder)} is inside the .git folder of a repository.`, {
      advice: "Name the folder of the repository itself.",
    });
  if (isBare !== "true") await refuseInside(git, folder);
  if (within !== undefined) await stayWithin(git, folder, within);
  const commit = await commitOf(git, folder, ref ?? "HEAD");
  const isWorkingTree = ref === undefined && isBare !== "true";
  return { git, root: folder, commit, ref: ref ?? (await branchOf(git)) ?? "HEAD", isWorkingTree };
}

/** Opens the git repository to deliver to. */
export async function openRepository(path: string): Promise<Git> {
  const git = await Git.in(await existingFolder(path));
  const { code, stderr } = await git.try(["rev-parse", "--git-dir"]);
  if (code !== 0) throw noRepository(git.folder, stderr);
  return git;
}

async function existingFolder(path: string): Promise<string> {
  try {
    const folder = await realpath(resolve(path));
    if ((await stat(folder)).isDirectory()) return folder;
  } catch (cause) {
    throw new InputInvalid(`There is no folder ${showPath(path)}.`, {
      advice: "Name the folder of a git repository.",
      cause,
    });
  }
  throw new InputInvalid(`${showPath(path)} is not a folder.`, {
    advice: "Name the folder of a git repository.",
  });
}

function noRepository(folder: string, stderr: string): InputInvalid {
  if (/dubious ownership/.test(stderr))
    return new InputInvalid(
      `The repository ${showPath(folder)} belongs to another user, and git refuses to read it.`,
      {
        advice: `If you trust it: git config --global --add safe.directory ${folder}`,
      },
    );
  return new InputInvalid(`${showPath(folder)} is not a git repository.`, {
    advice: "Name the folder of a repository, or make it one: git init && git add -A && git commit -m start",
  });
}

async function refuseInside(git: Git, folder: string): Promise<void> {
  const root = await realpath(await git.text(["rev-parse", "--show-toplevel"]));
  if (root === folder) return;
  throw new InputInvalid(`${showPath(folder)} is a folder inside the repository ${showPath(root)}.`, {
    advice: `Name the repository itself. To work on this folder only, write in the team file: source: { include: ["${folder.slice(root.length + 1)}/**"] }`,
  });
}

async function commitOf(git: Git, folder: string, ref: string): Promise<string> {
  const { code, stdout } = await git.try([
    "rev-parse",
    "--verify",
    "--quiet",
    "--end-of-options",
    `${ref}^{commit}`,
  ]);
  if (code === 0) return stdout.toString().trim();
  if (ref === "HEAD")
    throw new InputInvalid(`The repository ${showPath(folder)} has no commit yet.`, {
      advice: "Commit once: git add -A && git commit -m start",
    });
  const branches = await git.text(["for-each-ref", "--count=10", "--format=%(refname:short)", "refs/heads"]);
  throw new InputInvalid(`The repository ${showPath(folder)} has no commit ${showPath(ref)}.`, {
    advice: `Name a branch, tag or commit of it${branches === "" ? "" : `, such as ${branches.split("\n").join(", ")}`}.`,
  });
}

/** Undefined if no branch is checked out. */
async function branchOf(git: Git): Promise<string | undefined> {
  const { code, stdout } = await git.try(["symbolic-ref", "--quiet", "--short", "HEAD"]);
  return code === 0 ? stdout.toString().trim() : undefined;
}
