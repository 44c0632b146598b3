import { isUtf8 } from "node:buffer";
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InputInvalid } from "../../domain/errors.ts";
import type { FileMode } from "../../domain/tree.ts";
import { showPath } from "../../domain/tree-path.ts";
import type { Repository } from "./find-repository.ts";
import { type Git, GitFailed } from "./git.ts";

/** A file that git knows. */
export interface TrackedFile {
  readonly path: string;
  readonly mode: FileMode;
  /** Git's own hash of the content. */
  readonly oid: string;
  /** The tag of `git ls-files -v`: "S" means intentionally not on the disk. Git treats small letters as unchanged. */
  readonly tag: string;
}

export interface LeftOut {
  readonly path: string;
  readonly reason: string;
}

export interface Listing {
  readonly files: readonly TrackedFile[];
  /** Tracked entries that no session can have, such as submodules. */
  readonly leftOut: readonly LeftOut[];
}

const modes: Readonly<Record<string, FileMode>> = {
  "100644": "file",
  "100664": "file",
  "100755": "executable",
  "120000": "link",
};
const submoduleMode = "160000";
const submoduleReason = "it is a submodule";

export const isSubmodule = ({ reason }: LeftOut): boolean => reason === submoduleReason;

/** The tracked files of the working tree, or those of the commit. */
export async function listFiles({ git, root, commit, isWorkingTree }: Repository): Promise<Listing> {
  const output = isWorkingTree
    ? await git.run(["ls-files", "-s", "-v", "-z"])
    : await git.run(["ls-tree", "-r", "-z", "--full-tree", commit]);
  const files: TrackedFile[] = [];
  const leftOut: LeftOut[] = [];
  for (const record of records(output)) {
    const { head, path, name } = parse(record, isWorkingTree);
    const [tag, mode = "", oid = "", stage] = head;
    if (stage !== undefined && stage !== "0") throw unmerged(root, name);
    if (mode === submoduleMode) leftOut.push({ path: name, reason: submoduleReason });
    else if (path === undefined) leftOut.push({ path: name, reason: "its name is not UTF-8" });
    else files.push({ path, mode: modes[mode] ?? "file", oid, tag: tag ?? "H" });
  }
  return { files, leftOut };
}

/** Paths that differ from the commit, in the working tree or the index. */
export async function dirtyPaths(
  { git, isWorkingTree }: Repository,
  files: readonly TrackedFile[],
): Promise<readonly string[]> {
  if (!isWorkingTree) return [];
  const assumed = files.filter(({ tag }) => tag !== tag.toUpperCase()).map(({ path }) => path);
  if (assumed.length === 0) return changedPaths(git);
  // A person told git to ignore their changes. The session reads them from disk, so the changes must be detected.
  const folder = await mkdtemp(join(tmpdir(), "maestro-index-"));
  try {
    const env = { GIT_INDEX_FILE: join(folder, "index") };
    await copyFile(
      await git.text(["rev-parse", "--path-format=absolute", "--git-path", "index"]),
      env.GIT_INDEX_FILE,
    );
    const input = assumed.map((path) => `${path}\0`).join("");
    await git.run(["update-index", "--no-assume-unchanged", "-z", "--stdin"], { env, input });
    return await changedPaths(git, env);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function changedPaths(
  git: Git,
  env: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> {
  const args = [
    "status",
    "--porcelain=v2",
    "-z",
    "--untracked-files=no",
    "--no-renames",
    "--ignore-submodules=all",
  ];
  const output = await git.run(args, { env });
  const changed = records(output).flatMap((record) => {
    // A name that is not UTF-8 is left out, and so stays as in the commit.
    if (!isUtf8(record)) return [];
    // Eight fields before the path.
    const [, path] = /^1 (?:[^ ]+ ){7}([^]*)$/.exec(record.toString()) ?? [];
    return path === undefined ? [] : [path];
  });
  return changed.sort();
}

/** How a clean file on the disk relates to the content that git has recorded. */
export type Conversion =
  /** The same bytes. */
  | "none"
  /** Git itself converts line ends, keywords or the encoding. */
  | "text"
  /** A program converts it, like Git LFS. It is never started: the recorded content is used instead. */
  | "filter";

const converting = ["text", "crlf", "eol", "ident", "working-tree-encoding"];

/** For each file whose content is converted. */
export async function conversionsOf(
  { git, isWorkingTree }: Repository,
  files: readonly TrackedFile[],
): Promise<(path: string) => Conversion> {
  if (!isWorkingTree || files.length === 0) return () => "none";
  const found = new Map<string, Conversion>();
  const input = files.map(({ path }) => `${path}\0`).join("");
  const output = await git.run(["check-attr", "-z", "--stdin", "filter", ...converting], { input });
  const fields = output.toString().split("\0");
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const [path = "", attribute, value = ""] = fields.slice(at, at + 3);
    if (value === "unspecified" || value === "unset" || value === "") continue;
    if (attribute === "filter") found.set(path, "filter");
    else if (!found.has(path)) found.set(path, "text");
  }
  const { stdout } = await git.try(["config", "--get", "core.eol"]);
  const isCrlf = stdout.toString().trim().toLowerCase() === "crlf";
  const always = isCrlf || (await autocrlfOf(git)) !== undefined ? "text" : "none";
  return (path) => found.get(path) ?? always;
}

/** How the user's git converts line ends; undefined if it does not. */
export async function autocrlfOf(git: Git): Promise<"true" | "input" | undefined> {
  const { stdout } = await git.try(["config", "--get", "core.autocrlf"]);
  const value = stdout.toString().trim().toLowerCase();
  if (value === "input") return value;
  return ["true", "yes", "on", "1"].includes(value) ? "true" : undefined;
}

function records(output: Buffer): Buffer[] {
  const found: Buffer[] = [];
  for (let from = 0; from < output.length; ) {
    const end = output.indexOf(0, from);
    if (end === -1) throw new GitFailed(["ls-files"], 0, "its output ends in the middle of a record");
    found.push(output.subarray(from, end));
    from = end + 1;
  }
  return found;
}

/** `H 100644 <oid> 0<tab>path` of an index, `100644 blob <oid><tab>path` of a commit. */
function parse(record: Buffer, isIndex: boolean) {
  const tab = record.indexOf(9);
  const fields = record.subarray(0, tab).toString().split(" ");
  const bytes = record.subarray(tab + 1);
  const path = isUtf8(bytes) ? bytes.toString() : undefined;
  const name = path ?? quoted(bytes);
  const [mode, , oid] = fields;
  return { head: isIndex ? fields : [undefined, mode, oid, undefined], path, name };
}

/** Quoted like git, so that each name has a distinct text. */
const quoted = (bytes: Buffer): string =>
  `"${[...bytes].map((byte) => (byte >= 0x80 ? `\\${byte.toString(8)}` : String.fromCharCode(byte))).join("")}"`;

const unmerged = (root: string, path: string): InputInvalid =>
  new InputInvalid(
    `The repository ${showPath(root)} is in the middle of a merge: ${showPath(path)} has conflicts.`,
    {
      advice: "Finish the merge or abort it, then start again.",
    },
  );
