import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { advise } from "../../domain/advice.ts";
import { InputInvalid } from "../../domain/errors.ts";
import { isGitAddress } from "../../domain/git-address.ts";
import { changesBetween, emptyTree, type Tree, type TreeChange } from "../../domain/tree.ts";
import type { RepositorySource, Source } from "../../journal/journal.ts";
import type { PhaseState, SessionState } from "../../journal/session-state.ts";
import type { Blobs } from "../../store/blobs.ts";
import { orderPhases } from "../../team/definition/order.ts";
import { recordedDefinition } from "../../team/definition/recorded.ts";
import { type BlobStore, BlobsBeside } from "../../workspace/blobs.ts";
import type { Applied } from "../../workspace/repository/apply-changes.ts";
import type { DeliveredBranch, PhaseCommit } from "../../workspace/repository/deliver-branch.ts";
import type { Git } from "../../workspace/repository/git.ts";
import { loadTree } from "../../workspace/stored-tree.ts";
import { type FinalTree, finalTree } from "../final-files.ts";
import { folderOf } from "../programs/read-checks-only.ts";
import { installedIn, withoutInstalled } from "../setup/kept-paths.ts";

const maxTitle = 72;

interface BranchPlace {
  readonly branch: string;
  /** Where to make it; the session's own repository unless given. */
  readonly repo?: string;
}

/** Makes a branch of the session's completed phases. The checked-out files of the repository are not touched. */
export async function makeBranch(
  state: SessionState,
  { branch, repo }: BranchPlace,
  { artifacts, stateDirectory }: DeliveryParts,
): Promise<DeliveredBranch> {
  const { source } = state.created;
  if (source === undefined) throw noSource(state);
  const { deliverBranch } = await import("../../workspace/repository/deliver-branch.ts");
  const blobs = new BlobsBeside(artifacts);
  const git = await repositoryOf(state, repo, stateDirectory);
  const isRepository = source.git !== undefined;
  const begun = isRepository ? await startCommit(source, blobs) : [];
  const commits = [...begun, ...(await phaseCommits(state, source, blobs))];
  const order = {
    branch,
    session: state.id,
    // An upload has no commit of its own: its changes go on top of what the repository has now.
    base: isRepository ? source.commit : await git.text(["rev-parse", "--verify", "HEAD^{commit}"]),
    ref: source.ref,
    createdAt: state.createdHead.at,
    autocrlf: source.autocrlf ?? ("false" as const),
    commits,
    isSeen: await seenPaths(source, blobs),
  };
  return deliverBranch(git, order, blobs);
}

/** The files that the session began with, and those that a person had removed: they may be made again. */
async function seenPaths({ tree, dirty = [] }: Source, blobs: BlobStore): Promise<(path: string) => boolean> {
  const [base, removed] = [await loadTree(blobs, tree), new Set(dirty)];
  return (path) => base.has(path) || removed.has(path);
}

/** The repository that a session is delivered to: its own unless another is named. */
export async function repositoryOf(
  state: SessionState,
  repo: string | undefined,
  stateDirectory: string,
): Promise<Git> {
  const { openRepository } = await import("../../workspace/repository/find-repository.ts");
  return openRepository(repo ?? (await ownFolder(state, "--repo", stateDirectory)));
}

export interface DeliveryParts {
  readonly artifacts: Blobs;
  readonly stateDirectory: string;
}

/**
 * The session's repository; of one that was fetched, the clone. The path in an import is one of another machine, or of a
 * stranger's choice.
 */
async function ownFolder(state: SessionState, flag: string, stateDirectory: string): Promise<string> {
  const { id, imported, created } = state;
  const { source } = created;
  if (source === undefined) throw noSource(state);
  if (source.git === undefined) throw noRepository(state, flag);
  const { git, commit } = source;
  if (imported === undefined) {
    const folder = await folderOf(git, commit, stateDirectory);
    if (folder === git || existsSync(folder)) return folder;
    throw new InputInvalid(`The clone of ${git} that session ${id} began with was removed.`, {
      advice: `Name a repository that has commit ${commit} with ${flag}.`,
      details: { session: id },
    });
  }
  throw new InputInvalid(`Session ${id} was imported, so its repository is not known on this machine.`, {
    advice: `Name the folder with ${flag}.`,
    details: { session: id },
  });
}

function ownCheckout(state: SessionState): string {
  const { id, imported, created } = state;
  const { source } = created;
  if (source === undefined) throw noSource(state);
  if (source.git === undefined) throw noRepository(state, "--to");
  if (imported === undefined && !isGitAddress(source.git)) return source.git;
  const why =
    imported === undefined
      ? `The repository of session ${id} was fetched from an address: there is no folder to change.`
      : `Session ${id} was imported, so its repository is not known on this machine.`;
  throw new InputInvalid(why, { advice: "Name the folder with --to.", details: { session: id } });
}

export interface ApplyOptions {
  /** The session's repository unless given. */
  readonly to?: string;
  /** Write what has no conflict, and texts in conflict with both versions between markers. */
  readonly force?: boolean;
}

/** Brings what the session changed into a folder. With a conflict and without `force`, nothing is written. */
export async function applySession(
  state: SessionState,
  { to, force = false }: ApplyOptions,
  artifacts: Blobs,
): Promise<Applied> {
  const directory = resolve(to ?? ownCheckout(state));
  return bringChanges(state, await finalTree(state, artifacts), { directory, force }, artifacts);
}

interface Bringing {
  readonly directory: string;
  readonly force?: boolean;
  /** Contents that Maestro wrote into the folder: its files are kept whole, and not only those that changed. */
  readonly wrote?: ReadonlyMap<string, readonly string[]>;
}

/** Brings what differs from the files that the session began with into a folder. */
export async function bringChanges(
  state: SessionState,
  { tree, blobs }: FinalTree,
  { directory, force = false, wrote }: Bringing,
  artifacts: Blobs,
): Promise<Applied> {
  const { source } = state.created;
  const { applyChanges } = await import("../../workspace/repository/apply-changes.ts");
  const { isSubmodule } = await import("../../workspace/repository/list-files.ts");
  const base = source === undefined ? emptyTree : await loadTree(artifacts, source.tree);
  const isIn = await installedIn(state, artifacts);
  const after = withoutInstalled(base, tree, isIn);
  const own = await ownContents(state, base, artifacts, isIn);
  for (const [path, hashes] of wrote ?? []) own.set(path, new Set([...hashes, ...(own.get(path) ?? [])]));
  const apart = (source?.leftOut ?? []).filter(isSubmodule).map(({ path }) => path);
  const whole = wrote === undefined ? [] : after.keys();
  return applyChanges({ base, after, blobs, apart, own, whole }, directory, { force });
}

/** The contents that phases gave each path. In a folder, they belong to the session and may be replaced. */
async function ownContents(
  { phases }: SessionState,
  base: Tree,
  artifacts: Blobs,
  isIn: (path: string) => boolean,
): Promise<Map<string, Set<string>>> {
  const own = new Map<string, Set<string>>();
  for (const { status, tree } of phases.values()) {
    if (status !== "completed" || tree === undefined) continue;
    for (const { path, after } of changesBetween(base, await loadTree(artifacts, tree)))
      if (after !== undefined && !isIn(path))
        own.set(path, new Set([...(own.get(path) ?? []), after.sha256]));
  }
  return own;
}

/** Changes that were not committed when the session began are a commit of their own. */
async function startCommit(
  { tree, dirty }: RepositorySource,
  blobs: BlobStore,
): Promise<readonly PhaseCommit[]> {
  if (dirty.length === 0) return [];
  const base = await loadTree(blobs, tree);
  const changes = dirty.map((path): TreeChange => {
    const after = base.get(path);
    return { path, ...(after !== undefined && { after }) };
  });
  return [{ title: "working tree at start", body: "", personas: [], changes }];
}

/** In the order of the phases. Where branches meet, each adds its own changes to those before it. */
async function phaseCommits(
  state: SessionState,
  source: Source,
  blobs: BlobsBeside,
): Promise<readonly PhaseCommit[]> {
  const { mergeTrees } = await import("../../workspace/merge.ts");
  const load = (ref: string | undefined): Promise<Tree> | Tree =>
    ref === undefined ? emptyTree : loadTree(blobs, ref);
  const commits: PhaseCommit[] = [];
  const isIn = await installedIn(state, blobs);
  let [ours, at]: [Tree, string | undefined] = [await load(source.tree), source.tree];
  for (const name of orderPhases(recordedDefinition(state.created.definition))) {
    const phase = state.phases.get(name);
    if (phase?.status !== "completed" || phase.tree === phase.base) continue;
    const theirs = await load(phase.tree);
    const before = ours;
    if (at === phase.base) [ours, at] = [theirs, phase.tree];
    else {
      const base = await load(phase.base);
      [ours, at] = [(await mergeTrees({ base, ours, theirs, blobs })).tree, undefined];
    }
    const changes = changesBetween(before, ours).filter(({ path }) => !isIn(path));
    commits.push({ ...describe(name, phase), changes });
  }
  return commits;
}

function describe(name: string, { personas }: PhaseState): Omit<PhaseCommit, "changes"> {
  const done = [...personas].flatMap(([persona, { result }]) =>
    result === undefined ? [] : [{ persona, summary: result.summary.trim() }],
  );
  const [first = ""] = done[0]?.summary.split("\n") ?? [];
  const title = `${name}: ${first}`;
  const body = done.map(({ persona, summary }) => `${persona}: ${summary}`).join("\n\n");
  return {
    title: title.length <= maxTitle ? title : `${title.slice(0, maxTitle - 1).toWellFormed()}…`,
    body,
    personas: done.map(({ persona }) => persona),
  };
}

const noRepository = ({ id }: SessionState, flag: string): InputInvalid =>
  new InputInvalid(`Session ${id} began with an uploaded archive, so it has no repository.`, {
    advice: `Name the folder that the files came from with ${flag}.`,
    details: { session: id },
  });

const noSource = ({ id }: SessionState): InputInvalid =>
  new InputInvalid(`Session ${id} does not work on a repository.`, {
    advice: advise("Write its files to a folder", "show", id, "--out", "<folder>"),
    details: { session: id },
  });
