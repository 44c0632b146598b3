import { advise, quote } from "../../domain/advice.ts";
import { InputInvalid } from "../../domain/errors.ts";
import type { TreeChange } from "../../domain/tree.ts";
import { showPath } from "../../domain/tree-path.ts";
import type { BlobStore } from "../blobs.ts";
import { foldersAbove } from "../open-folder.ts";
import type { Git } from "./git.ts";
import { type Recording, TreeWriter } from "./git-tree.ts";

/** One commit: a phase's changes and their authors. */
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
  /** How the session named that commit, such as a branch. */
  readonly ref?: string | undefined;
  readonly createdAt: number;
  readonly autocrlf: Recording["autocrlf"];
  readonly commits: readonly PhaseCommit[];
  /** Whether the session had this path of the base. A person may have removed it before the start. */
  readonly isSeen: (path: string) => boolean;
}

export interface DeliveredBranch {
  readonly branch: string;
  readonly commits: readonly string[];
}

/**
 * Creates a branch with one commit for each phase. A commit is the base plus the session's changes, so that
 * excluded files stay. It depends only on base, session and results: a repeated delivery gives the same commits.
 */
export async function deliverBranch(
  git: Git,
  order: BranchOrder,
  blobs: BlobStore,
): Promise<DeliveredBranch> {
  await checkBranch(git, order.branch);
  await checkBase(git, order.base);
  await checkUnseen(git, order);
  const commits: string[] = [];
  await using writer = await TreeWriter.open(git, blobs, { from: order.base, autocrlf: order.autocrlf });
  let parent = order.base;
  for (const commit of order.commits) {
    if (commit.changes.length === 0) continue;
    const tree = await writer.write(commit.changes);
    parent = await makeCommit(git, commit, tree, parent, order);
    commits.push(parent);
  }
  await setBranch(git, order, parent);
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

/** Whether the branch can be created. `mustBeFree`: an existing branch with that name is a different one. */
export async function checkBranch(
  git: Git,
  branch: string,
  { mustBeFree = false, ...begun }: Partial<Begun> & { readonly mustBeFree?: boolean } = {},
): Promise<void> {
  // `check-ref-format --branch` would read @{-1} as the previously checked-out branch.
  const { code } = await git.try(["check-ref-format", `refs/heads/${branch}`]);
  if (code !== 0 || branch.startsWith("-") || branch === "HEAD")
    throw new InputInvalid(`${showPath(branch)} is not a name that git accepts for a branch.`, {
      advice: "Use letters, digits, dashes and slashes, such as maestro/fix-parser.",
    });
  const found = await commitAt(git, branch);
  if (found === undefined) {
    await refuseUnborn(git, branch);
    await refuseNested(git, branch);
  } else if (mustBeFree) throw await branchExists(git, branch, begun);
}

/** Creating a branch that is checked out without a commit would change the status of its files. */
async function refuseUnborn(git: Git, branch: string): Promise<void> {
  if (!(await isCheckedOut(git, branch))) return;
  throw new InputInvalid(`The branch ${showPath(branch)} is checked out and has no commit yet.`, {
    advice: "Name another branch, or commit once.",
  });
}

/** To git, branches are files and folders: `a` and `a/b` cannot both exist. */
async function refuseNested(git: Git, branch: string): Promise<void> {
  const format = ["for-each-ref", "--count=1", "--format=%(refname:lstrip=2)"];
  const below = await git.text([...format, `refs/heads/${branch}/`]);
  const folders = branch.split("/").map((_, index, names) => names.slice(0, index).join("/"));
  const taken = await Promise.all(
    folders.map(async (name) => ((await commitAt(git, name)) === undefined ? [] : [name])),
  );
  const [other] = [...taken.flat(), below].filter((name) => name !== "");
  if (other === undefined) return;
  throw new InputInvalid(
    `The branch ${showPath(branch)} cannot be made: the branch ${showPath(other)} exists, and git does not allow both names.`,
    { advice: "Name another branch." },
  );
}

async function commitAt(git: Git, branch: string): Promise<string | undefined> {
  const { code, stdout } = await git.try(["rev-parse", "--verify", "--quiet", `refs/heads/${branch}`]);
  return code === 0 ? stdout.toString().trim() : undefined;
}

async function isCheckedOut(git: Git, branch: string): Promise<boolean> {
  const worktrees = await git.text(["worktree", "list", "--porcelain", "-z"]);
  return worktrees.split("\0").includes(`branch refs/heads/${branch}`);
}

type Begun = Pick<BranchOrder, "base" | "ref">;

async function branchExists(git: Git, branch: string, begun: Partial<Begun>): Promise<InputInvalid> {
  const other = advise("Name another branch.");
  const remove = advise(`Or remove it, if it is not needed: git branch -D ${quote(branch)}`);
  return new InputInvalid(`The branch ${showPath(branch)} exists and has other commits.`, {
    advice: (await isNeeded(git, branch, begun)) ? other : [other, remove],
  });
}

/** A branch that must not be removed: it is checked out, the repository's main one, or the session began with it. */
async function isNeeded(git: Git, branch: string, { base, ref }: Partial<Begun>): Promise<boolean> {
  if (["main", "master", ref].includes(branch) || ref === `refs/heads/${branch}`) return true;
  if (base !== undefined && (await commitAt(git, branch)) === base) return true;
  const [defaults, configured] = await Promise.all([
    git.text(["for-each-ref", "--format=%(symref:strip=3)", "refs/remotes/*/HEAD"]),
    git.try(["config", "init.defaultBranch"]),
  ]);
  const known = [...defaults.split("\n"), configured.stdout.toString().trim()];
  return known.includes(branch) || isCheckedOut(git, branch);
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

/**
 * Excluded files stay unchanged, even if a persona created a file with the same name, in place of their folder, or
 * below a submodule: git would silently remove them from the tree.
 */
async function checkUnseen(git: Git, { base, commits, isSeen, session }: BranchOrder): Promise<void> {
  const written = commits.flatMap(({ changes }) =>
    changes.flatMap(({ path, after }) => (after === undefined || isSeen(path) ? [] : [path])),
  );
  if (written.length === 0) return;
  const output = await git.run(["ls-tree", "-r", "-z", "--name-only", "--full-tree", base]);
  const inTheWay = unseenBy(
    output
      .toString()
      .split("\0")
      .filter((path) => path !== "" && !isSeen(path)),
  );
  const unseen = [...new Set(written)].flatMap((path) => {
    const other = inTheWay(path);
    return other === undefined ? [] : [{ path, other }];
  });
  const [first] = unseen;
  if (first === undefined) return;
  const place = first.other === first.path ? "" : ` in the place of ${showPath(first.other)}`;
  const more = unseen.length === 1 ? "" : ` and ${unseen.length - 1} more`;
  throw new InputInvalid(
    `The session made ${showPath(first.path)}${place}${more}, which the repository has and the session did not see. A branch would replace it.`,
    {
      advice: [
        advise("Start a session that has the file: correct include and exclude of its source."),
        advise("Or bring the changes into your files; there it is a conflict", "apply", session),
      ],
      details: { paths: unseen.slice(0, 100).map(({ path }) => path) },
    },
  );
}

/** The excluded path that cannot exist beside a new file: the same path, one above it, or one below it. */
function unseenBy(paths: readonly string[]): (made: string) => string | undefined {
  const files = new Set(paths);
  const folders = new Map(paths.flatMap((path) => foldersAbove(path).map((folder) => [folder, path])));
  return (made) => [made, ...foldersAbove(made)].find((path) => files.has(path)) ?? folders.get(made);
}

/** An existing branch is never moved: it may be checked out, or hold someone's work. */
async function setBranch(git: Git, order: BranchOrder, commit: string): Promise<void> {
  const { branch } = order;
  const found = await commitAt(git, branch);
  if (found === commit) return;
  if (found !== undefined) throw await branchExists(git, branch, order);
  // The last argument: only if it does not exist. Another process may have made it meanwhile.
  const { code, stderr } = await git.try([
    "update-ref",
    "--create-reflog",
    `refs/heads/${branch}`,
    commit,
    "",
  ]);
  if (code === 0 || (await commitAt(git, branch)) === commit) return;
  throw new InputInvalid(`The branch ${showPath(branch)} cannot be made: ${stderr}`, {
    advice: "Name another branch, or make the repository writable.",
  });
}
