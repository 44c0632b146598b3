import { advise } from "../../domain/advice.ts";
import { InputInvalid } from "../../domain/errors.ts";
import type { TreeChange } from "../../domain/tree.ts";
import { showPath } from "../../domain/tree-path.ts";
import type { BlobStore } from "../blobs.ts";
import type { Git } from "./git.ts";
import { TreeWriter } from "./git-tree.ts";

/** One commit: what a phase changed, and who made it. */
export interface PhaseCommit {
  readonly title: string;
  readonly body: string;
  /** The first one is the author. */
  readonly personas: readonly string[];
  readonly changes: readonly TreeChange[];
}

export interface BranchOrder {
  readonly branch: string;
  readonly session: string;
  /** The commit that the session began with. */
  readonly base: string;
  readonly createdAt: number;
  readonly commits: readonly PhaseCommit[];
}

export interface DeliveredBranch {
  readonly branch: string;
  readonly commits: readonly string[];
}

/**
 * Makes a branch with one commit for each phase. A commit is the base with the session's changes, never the session's own
 * files alone, so what was left out stays. It depends on base, session and results only: delivered again, it is the same.
 */
export async function deliverBranch(
  git: Git,
  order: BranchOrder,
  blobs: BlobStore,
): Promise<DeliveredBranch> {
  await checkName(git, order.branch);
  await checkBase(git, order.base);
  const commits: string[] = [];
  await using writer = await TreeWriter.open(git, blobs, order.base);
  let parent = order.base;
  for (const commit of order.commits) {
    if (commit.changes.length === 0) continue;
    const tree = await writer.write(commit.changes);
    parent = await makeCommit(git, commit, tree, parent, order);
    commits.push(parent);
  }
  await setBranch(git, order.branch, parent);
  return { branch: order.branch, commits };
}

async function makeCommit(
  git: Git,
  { title, body, personas }: PhaseCommit,
  tree: string,
  parent: string,
  { session, createdAt }: BranchOrder,
): Promise<string> {
  const [author = "maestro", ...others] = personas;
  const trailers = [
    ...others.map((name) => `Co-authored-by: ${identity(name)}`),
    `Maestro-Session: ${session}`,
  ];
  const message = [title, ...(body === "" ? [] : [body]), trailers.join("\n")].join("\n\n");
  const date = `${Math.floor(createdAt / 1000)} +0000`;
  const env = {
    GIT_AUTHOR_NAME: author,
    GIT_AUTHOR_EMAIL: addressOf(author),
    GIT_AUTHOR_DATE: date,
    GIT_COMMITTER_NAME: "maestro",
    GIT_COMMITTER_EMAIL: addressOf("maestro"),
    GIT_COMMITTER_DATE: date,
  };
  return git.text(["commit-tree", tree, "-p", parent, "-F", "-"], { input: `${message}\n`, env });
}

const addressOf = (name: string): string => `${name.replace(/[^\w.-]/g, "-")}@maestro.invalid`;
const identity = (name: string): string => `${name} <${addressOf(name)}>`;

async function checkName(git: Git, branch: string): Promise<void> {
  const { code } = await git.try(["check-ref-format", "--branch", branch]);
  if (code !== 0)
    throw new InputInvalid(`${showPath(branch)} is not a name that git accepts for a branch.`, {
      advice: "Use letters, digits, dashes and slashes, such as maestro/fix-parser.",
    });
}

async function checkBase(git: Git, commit: string): Promise<void> {
  const { code } = await git.try(["cat-file", "-e", `${commit}^{commit}`]);
  if (code !== 0)
    throw new InputInvalid(
      `${showPath(git.folder)} does not have the commit ${commit} that the session began with.`,
      {
        advice: "Fetch it, or name the repository that has it with --repo.",
      },
    );
}

/** An existing branch is never moved: it may be checked out, or hold someone's work. */
async function setBranch(git: Git, branch: string, commit: string): Promise<void> {
  const ref = `refs/heads/${branch}`;
  const { code, stdout } = await git.try(["rev-parse", "--verify", "--quiet", ref]);
  if (code === 0) {
    if (stdout.toString().trim() === commit) return;
    throw new InputInvalid(`The branch ${showPath(branch)} exists and has other commits.`, {
      advice: [
        advise("Name another branch."),
        advise(`Or remove it, if it is not needed: git branch -D ${branch}`),
      ],
    });
  }
  await git.run(["update-ref", "--create-reflog", ref, commit, ""]);
}
