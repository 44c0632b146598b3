import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { changesBetween, type Tree } from "../../domain/tree.ts";
import { isInstalled } from "../../domain/tree-path.ts";
import type { BlobStore } from "../blobs.ts";
import { Git } from "./git.ts";
import { TreeWriter } from "./git-tree.ts";

/**
 * The changes between two trees in git's format, so that `git apply` accepts them, including modes, links and
 * binary files. Made in a temporary repository that contains only the changed files.
 */
export function diffTrees(
  before: Tree,
  after: Tree,
  blobs: Pick<BlobStore, "get">,
  { stat = false }: { readonly stat?: boolean } = {},
): Promise<Buffer> {
  return compare(before, after, blobs, stat ? ["--stat"] : ["--binary", "--full-index"]);
}

export interface FileChange {
  readonly path: string;
  /** The earlier path of a renamed file. */
  readonly from: string | null;
  readonly status: "added" | "changed" | "deleted" | "renamed";
  /** Null for a binary file. */
  readonly addedLines: number | null;
  readonly removedLines: number | null;
}

/** The changed files, with the line counts and renames of git. */
export async function listChanges(
  before: Tree,
  after: Tree,
  blobs: Pick<BlobStore, "get">,
): Promise<readonly FileChange[]> {
  const output = await compare(before, after, blobs, ["--raw", "--numstat", "-z"]);
  const fields = output.toString().split("\0").values();
  const next = (): string => fields.next().value ?? "";
  const statuses = new Map<string, Pick<FileChange, "status" | "from">>();
  const changes: FileChange[] = [];
  for (const field of fields) {
    if (field.startsWith(":")) {
      const letter = /([A-Z])\d*$/.exec(field)?.[1] ?? "M";
      const from = letter === "R" ? next() : null;
      statuses.set(next(), { status: statusOf[letter] ?? "changed", from });
      continue;
    }
    const counted = /^(\d+|-)\t(\d+|-)\t([^]*)$/.exec(field);
    if (counted === null) continue;
    const [, added, removed, name = ""] = counted;
    // A renamed file has both names in separate fields.
    const path = name === "" ? (next(), next()) : name;
    const { status, from } = statuses.get(path) ?? { status: "changed", from: null };
    changes.push({ path, from, status, addedLines: linesOf(added), removedLines: linesOf(removed) });
  }
  return changes;
}

const statusOf: Readonly<Record<string, FileChange["status"]>> = { A: "added", D: "deleted", R: "renamed" };

const linesOf = (field = "-"): number | null => (field === "-" ? null : Number(field));

async function compare(
  before: Tree,
  after: Tree,
  blobs: Pick<BlobStore, "get">,
  how: readonly string[],
): Promise<Buffer> {
  // Installed packages are never delivered.
  const changes = changesBetween(before, after).filter(({ path }) => !isInstalled(path));
  if (changes.length === 0) return Buffer.alloc(0);
  const folder = await mkdtemp(join(tmpdir(), "maestro-diff-"));
  try {
    await (await Git.in(folder)).run(["init", "--quiet", "--bare", "--template=", "."]);
    const git = await Git.in(folder);
    const old = changes.flatMap(({ path }) => {
      const file = before.get(path);
      return file === undefined ? [] : [{ path, after: file }];
    });
    await using from = await TreeWriter.open(git, blobs);
    const oldTree = await from.write(old);
    const newTree = await from.write(changes);
    return await git.run(["diff", "--no-color", "--no-ext-diff", "--find-renames", ...how, oldTree, newTree]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
