import { count } from "../../domain/amounts.ts";
import { showPath } from "../../domain/tree-path.ts";
import type { Source } from "../../journal/journal.ts";
import type { Blobs } from "../../store/blobs.ts";
import { storeTree } from "../../workspace/stored-tree.ts";

/** The repository that a session works on. */
export interface SourceOptions {
  /** Its folder. */
  readonly git: string;
  /** A branch, tag or commit. Without it the files on the disk are used, with changes that are not committed. */
  readonly ref?: string;
  /** Only these files. */
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
}

export interface ReadSource {
  readonly source: Source;
  readonly artifacts: readonly string[];
}

/** The session's first row stays readable. */
const mostListed = 1_000;
const mostNamed = 5;

/** Takes the files of the repository in. Durable when it returns; the repository itself is not touched. */
export async function readSource(
  { git, ref, include = [], exclude = [] }: SourceOptions,
  artifacts: Blobs,
): Promise<ReadSource> {
  const { findRepository } = await import("../../workspace/repository/find-repository.ts");
  const { readRepository } = await import("../../workspace/repository/read-repository.ts");
  const repository = await findRepository(git, ref);
  await using batch = await artifacts.batch();
  const { tree, leftOut, dirty } = await readRepository(repository, { include, exclude, allow: [] }, batch);
  const references = await batch.commit();
  const hash = await storeTree(artifacts, tree);
  const source = {
    git: repository.root,
    ref: repository.ref,
    commit: repository.commit,
    tree: hash,
    dirty: dirty.slice(0, mostListed),
    leftOut: leftOut.slice(0, mostListed),
  };
  return { source, artifacts: [...references, hash] };
}

/** What a person should know about the files before the first call is paid. */
export function sourceNotices({ git, commit, dirty, leftOut }: Source): readonly string[] {
  const notices = [`Works on ${showPath(git)} at ${commit.slice(0, 12)}${dirtyText(dirty)}.`];
  if (leftOut.length > 0) {
    const named = leftOut.slice(0, mostNamed).map(({ path, reason }) => `${showPath(path)} (${reason})`);
    const more = leftOut.length > mostNamed ? `, and ${leftOut.length - mostNamed} more` : "";
    notices.push(
      `Left out: ${named.join(", ")}${more}. The personas do not see them, and they stay unchanged.`,
    );
  }
  return notices;
}

const dirtyText = (dirty: readonly string[]): string =>
  dirty.length === 0 ? "" : `, with ${count(dirty.length, "file")} changed since`;
