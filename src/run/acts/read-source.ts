import { realpath } from "node:fs/promises";
import { dirname, resolve, sep } from "node:path";
import { count } from "../../domain/amounts.ts";
import { InputInvalid } from "../../domain/errors.ts";
import { isGitAddress } from "../../domain/git-address.ts";
import { showPath } from "../../domain/tree-path.ts";
import type { RepositorySource, Source } from "../../journal/journal.ts";
import type { Blobs } from "../../store/blobs.ts";
import { isPattern } from "../../team/definition/is-pattern.ts";
import { leadsOut } from "../../team/definition/source-keys.ts";
import type { TeamDefinition } from "../../team/definition/team-definition.ts";
import type { Repository } from "../../workspace/repository/find-repository.ts";
import { storeTree } from "../../workspace/stored-tree.ts";
import { namedInFull } from "../read-rules.ts";

/** The repository that a session works on. What is missing comes from the team's own `source`. */
export interface SourceOptions {
  /** Its folder, or an address that git fetches from. */
  readonly git?: string;
  /** A branch, tag or commit. Without it the files on the disk are used, with changes that are not committed. */
  readonly ref?: string;
  /** Only these files. */
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
  /** Files for checks and setup only. */
  readonly checksOnly?: readonly string[];
  /** All of the repository must be in one of these folders. For requests of strangers. */
  readonly within?: readonly string[];
}

export interface ReadSource {
  readonly source: Source;
  readonly artifacts: readonly string[];
}

interface ReadParts {
  readonly artifacts: Blobs;
  readonly stateDirectory: string;
  readonly onProgress: (text: string) => void;
}

/** Left-out files are named in the first row, so that a delivery keeps them. This bounds the row. */
const mostLeftOut = 1_000;
const mostDirty = 10_000;
const mostNamed = 5;
const mostReasons = 10;

interface WantedSource extends Required<Omit<SourceOptions, "ref" | "within">> {
  readonly ref?: string;
  readonly within?: readonly string[];
  /** Files that look like secrets and that the policy of a persona names. */
  readonly allow: readonly string[];
}

/** The source that a session begins with; undefined when neither the start nor the team names one. */
export async function sourceOf(
  given: SourceOptions | undefined,
  { source: own, phases }: TeamDefinition,
  teamFile: string | undefined,
): Promise<WantedSource | undefined> {
  if (given === undefined && own === undefined) return undefined;
  const git = given?.git ?? (own === undefined ? undefined : await ownRepository(own.git, teamFile));
  if (git === undefined)
    throw new InputInvalid("A source names no repository.", {
      advice: "Name its folder or address: --repo, or source: { git } in the team file.",
    });
  // A ref is one of its own repository.
  const ref = given?.ref ?? (given?.git === undefined ? own?.ref : undefined);
  return {
    git,
    ...(ref !== undefined && { ref }),
    include: given?.include ?? own?.include ?? [],
    exclude: given?.exclude ?? own?.exclude ?? [],
    checksOnly: given?.checksOnly ?? own?.checksOnly ?? [],
    ...(given?.within !== undefined && { within: given.within }),
    allow: phases.flatMap(({ personas }) => personas.flatMap(({ policy }) => namedInFull(policy))),
  };
}

/** A path of a team is relative to its file. One that seems to stay in its folder must not leave it by a link. */
async function ownRepository(git: string, teamFile: string | undefined): Promise<string> {
  if (isGitAddress(git)) return git;
  const home = teamFile === undefined ? process.cwd() : dirname(resolve(teamFile));
  const folder = resolve(home, git);
  if (leadsOut(git)) return folder;
  const [real, root] = await Promise.all([realpath(folder).catch(() => folder), realpath(home)]);
  if (real === root || real.startsWith(root.endsWith(sep) ? root : root + sep)) return folder;
  throw new InputInvalid(`source.git of the team is a link out of ${showPath(root)}.`, {
    advice: `Name the repository itself, if you trust the team with it: --repo ${real}`,
  });
}

/** Takes the files of the repository in. Durable when it returns; the repository itself is not touched. */
export async function readSource(
  wanted: WantedSource,
  { artifacts, stateDirectory, onProgress }: ReadParts,
): Promise<ReadSource> {
  const { readRepository } = await import("../../workspace/repository/read-repository.ts");
  const { autocrlfOf } = await import("../../workspace/repository/list-files.ts");
  const { checksOnly, include, exclude, allow } = wanted;
  const { repository, shown, mark } = await open(wanted, { artifacts, stateDirectory, onProgress });
  await using batch = await artifacts.batch();
  const { tree, leftOut, dirty, restricted } = await readRepository(
    repository,
    { include, exclude, allow, checksOnly },
    batch,
    onProgress,
  );
  const autocrlf = repository.isWorkingTree ? await autocrlfOf(repository.git) : undefined;
  refuseTooMany(repository.root, leftOut.length, dirty.length);
  const { findChecksOnly } = await import("../../workspace/repository/checks-only.ts");
  const forChecks = await findChecksOnly(repository, checksOnly.filter(isName), leftOut);
  const references = await batch.commit();
  const hash = await storeTree(artifacts, tree);
  const source = {
    git: shown,
    ref: repository.ref,
    commit: repository.commit,
    tree: hash,
    dirty,
    leftOut,
    ...(restricted.length > 0 && { restricted }),
    ...(forChecks.length > 0 && { checksOnly: forChecks }),
    ...(repository.isWorkingTree && { workingTree: true as const }),
    ...(autocrlf !== undefined && { autocrlf }),
  };
  return { source, artifacts: [...references, hash, ...mark] };
}

/** A pattern may match nothing; a name that is not there is a mistake. */
const isName = (file: string): boolean => !isPattern(file);

interface Opened {
  readonly repository: Repository;
  /** As it is recorded. */
  readonly shown: string;
  /** The artifact that keeps a clone. */
  readonly mark: readonly string[];
}

async function open(
  { git, ref, within }: Pick<WantedSource, "git" | "ref" | "within">,
  parts: ReadParts,
): Promise<Opened> {
  const { findRepository } = await import("../../workspace/repository/find-repository.ts");
  // A request of a stranger never makes git fetch.
  if (within !== undefined || !(await isFetched(git))) {
    const repository = await findRepository(git, ref, within);
    return { repository, shown: repository.root, mark: [] };
  }
  const { cloneMark, cloneRepository } = await import("../../workspace/repository/clone.ts");
  const cloned = await cloneRepository(git, ref, parts);
  const found = await findRepository(cloned.folder, cloned.commit);
  return {
    repository: { ...found, ref: cloned.ref },
    shown: cloned.git,
    mark: [await parts.artifacts.put(cloneMark(cloned.git, cloned.commit))],
  };
}

/** `host:path` is a folder where there is one of that name, as git has it. */
async function isFetched(git: string): Promise<boolean> {
  if (!isGitAddress(git)) return false;
  if (git.includes("://") || git.includes("::")) return true;
  return realpath(resolve(git)).then(
    () => false,
    () => true,
  );
}

function refuseTooMany(root: string, leftOut: number, dirty: number): void {
  if (leftOut > mostLeftOut)
    throw new InputInvalid(
      `${leftOut} files of ${showPath(root)} would be left out because they look like secrets or cannot be in a workspace; the limit is ${mostLeftOut}.`,
      { advice: "Leave their folders out by name: source: { exclude: [...] } in the team file." },
    );
  if (dirty > mostDirty)
    throw new InputInvalid(
      `${dirty} files of ${showPath(root)} have changes that are not committed; the limit is ${mostDirty}.`,
      { advice: "Commit them, or start from the commit: --ref HEAD" },
    );
}

/** Notices about the files, for a person, before the first call is paid. */
export function sourceNotices(source: Source): readonly string[] {
  const { leftOut, restricted = [] } = source;
  const notices = [
    source.git !== undefined ? repositoryText(source) : "Works on the files of an uploaded archive.",
  ];
  if (leftOut.length > 0)
    notices.push(`Left out: ${leftOutText(leftOut)}. The personas do not see them, and they stay unchanged.`);
  if (restricted.length > 0)
    notices.push(
      `Let in although they look like secrets, for personas whose policy names them: ${restricted.map((path) => showPath(path)).join(", ")}.`,
    );
  return notices;
}

/** By reason, so that many files of one kind do not hide the only one of another. */
function leftOutText(leftOut: Source["leftOut"]): string {
  const byReason = Map.groupBy(leftOut, ({ reason }) => reason);
  const named = [...byReason].slice(0, mostReasons).map(([reason, files]) => {
    const paths = files.slice(0, mostNamed).map(({ path }) => showPath(path));
    return { text: `${paths.join(", ")}${moreText(files.length - paths.length)} (${reason})`, files };
  });
  const more = leftOut.length - named.reduce((sum, { files }) => sum + files.length, 0);
  return `${named.map(({ text }) => text).join("; ")}${moreText(more)}`;
}

const moreText = (more: number): string => (more === 0 ? "" : ` and ${more} more`);

const repositoryText = ({ git, commit, dirty }: RepositorySource): string =>
  `Works on ${showPath(git)} at ${commit.slice(0, 12)}${dirtyText(dirty)}.`;

const dirtyText = (dirty: readonly string[]): string =>
  dirty.length === 0 ? "" : `, with ${count(dirty.length, "file")} changed since`;
