import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, rename, rm, utimes } from "node:fs/promises";
import { join } from "node:path";
import { sha256 } from "../../domain/canonical.ts";
import { InputInvalid } from "../../domain/errors.ts";
import { addressProblem, secretIn, withoutSecret } from "../../domain/git-address.ts";
import { newId } from "../../domain/ids.ts";
import { keepSecret, redact } from "../../domain/redact.ts";
import { bytesBelow } from "../folder-size.ts";
import { removeFolder } from "../remove-folder.ts";
import { ownerMark } from "../scratch.ts";
import { Git } from "./git.ts";

/** Limits of a fetch. */
const fetchLimits = { ms: 30 * 60_000, bytes: 8 * 1024 ** 3 } as const;
const watchEveryMs = 1_000;

export interface Cloned {
  /** A bare repository with the commit as its HEAD. */
  readonly folder: string;
  readonly commit: string;
  /** The name of the branch or tag. */
  readonly ref: string;
  /** The address without its secret. */
  readonly git: string;
}

export interface CloneOptions {
  readonly stateDirectory: string;
  readonly onProgress?: (text: string) => void;
}

/**
 * Fetches one commit of a repository into its own bare clone. The clone appears whole, by one rename: a killed
 * fetch leaves a folder in `scratch` that the next open removes. Afterwards only branches delivered into it change
 * it.
 */
export async function cloneRepository(
  address: string,
  ref: string | undefined,
  { stateDirectory, onProgress }: CloneOptions,
): Promise<Cloned> {
  const problem = addressProblem(address);
  const git = withoutSecret(address);
  if (problem !== undefined)
    throw new InputInvalid(`The address ${git} of a repository ${problem}.`, {
      advice: "Give an address such as https://host/team/project.git, or a folder.",
    });
  keepSecret([secretIn(address), secretIn(address)?.split(":").at(-1)]);
  const scratch = join(stateDirectory, "scratch");
  await mkdir(scratch, { recursive: true, mode: 0o700 });
  const folder = join(scratch, `${await ownerMark()}${newId()}`);
  await mkdir(folder, { mode: 0o700 });
  try {
    const remote = await Git.forTransfer(folder, address);
    const wanted = await findRef(remote, git, ref);
    const known = cloneFolder(stateDirectory, git, wanted.commit);
    if (!existsSync(join(known, "HEAD"))) {
      onProgress?.(`Fetching ${wanted.name} of ${git}.`);
      await fetchInto(remote, git, wanted, onProgress);
    }
    const commit = existsSync(join(known, "HEAD")) ? wanted.commit : await finish(folder, git, wanted);
    const kept = await keep(folder, cloneFolder(stateDirectory, git, commit));
    return { folder: kept, commit, ref: wanted.name, git };
  } finally {
    await removeFolder(folder);
  }
}

/** The path of a commit's clone, which may not exist. Address and commit determine its name. */
export const cloneFolder = (stateDirectory: string, git: string, commit: string): string =>
  join(stateDirectory, "repositories", sha256(cloneMark(git, commit)));

/** The artifact whose references show which sessions need the clone. Its hash is the name of the clone. */
export const cloneMark = (git: string, commit: string): string => JSON.stringify({ git, commit });

interface WantedRef {
  /** The name that people use. */
  readonly name: string;
  /** On the remote: the full name of a ref, or a commit. */
  readonly remote: string;
  /** The name in the clone. */
  readonly local: string;
  readonly commit: string;
}

async function findRef(remote: Git, git: string, ref: string | undefined): Promise<WantedRef> {
  if (ref !== undefined && !/^[^-\0-\x20][^\0-\x20]*$/.test(ref))
    throw new InputInvalid(`${JSON.stringify(ref)} is not the name of a branch, a tag or a commit.`);
  const named = ref === undefined || ref === "HEAD" ? [] : candidates(ref);
  const asked = ["HEAD", ...named, ...named.map((name) => `${name}^{}`)];
  const { code, stdout, stderr } = await remote.try(["ls-remote", "--symref", "--", "source", ...asked], {
    watch: limited,
  });
  if (code !== 0) throw unreachable(git, stderr);
  const refs = new Map<string, string>();
  let head: string | undefined;
  for (const line of stdout.toString().split("\n")) {
    const [value = "", name = ""] = line.split("\t");
    if (name === "HEAD" && value.startsWith("ref: ")) head = value.slice(5);
    else refs.set(name, value);
  }
  if (ref === undefined || ref === "HEAD") {
    const commit = refs.get("HEAD");
    if (commit === undefined)
      throw new InputInvalid(`The repository ${git} has no commit yet.`, { advice: "Push a commit to it." });
    if (head?.startsWith("refs/heads/")) return branchRef(head, commit);
    return { name: "HEAD", remote: "HEAD", local: "refs/remotes/origin/HEAD", commit };
  }
  for (const name of named) {
    const commit = refs.get(`${name}^{}`) ?? refs.get(name);
    if (commit === undefined) continue;
    return name.startsWith("refs/heads/")
      ? branchRef(name, commit)
      : { name: ref, remote: name, local: name, commit };
  }
  if (/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(ref))
    return { name: ref, remote: ref, local: "refs/maestro/base", commit: ref };
  throw new InputInvalid(`The repository ${git} has no branch or tag ${JSON.stringify(ref)}.`, {
    advice: "Name a branch, a tag, or a whole commit hash of it.",
  });
}

const candidates = (ref: string): readonly string[] =>
  ref.startsWith("refs/") ? [ref] : [`refs/heads/${ref}`, `refs/tags/${ref}`];

const branchRef = (full: string, commit: string): WantedRef => {
  const name = full.slice("refs/heads/".length);
  return { name, remote: full, local: `refs/remotes/origin/${name}`, commit };
};

async function fetchInto(
  remote: Git,
  git: string,
  { remote: from, local, commit }: WantedRef,
  onProgress: CloneOptions["onProgress"],
): Promise<void> {
  if (commit.length === 64) {
    // The object format of an empty repository cannot be changed.
    for (const name of ["HEAD", "config"]) await rm(join(remote.folder, name));
    await remote.run(["init", "--bare", "--quiet", "--template=", "--object-format=sha256"]);
  }
  const fetch = (...args: readonly string[]) =>
    remote.try(["fetch", "--no-tags", "--no-write-fetch-head", "--progress", ...args], {
      watch: (child) => {
        limited(child, remote.folder);
        report(child, onProgress);
      },
    });
  const one = `+${from}:${local}`;
  let done = await fetch("--depth=1", "source", one);
  // A simple web server does not support shallow fetches, and some servers send a commit only with its branch.
  if (done.code !== 0 && /shallow|dumb http/.test(done.stderr)) done = await fetch("source", one);
  if (done.code !== 0 && local === "refs/maestro/base") {
    done = await fetch("source", "+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*");
    const has = await remote.try(["cat-file", "-e", `${commit}^{commit}`]);
    if (done.code === 0 && has.code === 0) await remote.run(["update-ref", local, commit]);
    else if (done.code === 0)
      throw new InputInvalid(`The repository ${git} has no commit ${commit}.`, {
        advice: "Name a branch, a tag, or a commit that one of them has.",
      });
  }
  if (done.code !== 0) throw unreachable(git, done.stderr);
}

/** The branch may have moved since it was listed. The fetched commit counts. */
async function finish(folder: string, git: string, { local }: WantedRef): Promise<string> {
  const clone = await Git.in(folder);
  const commit = await clone.text(["rev-parse", "--verify", "--end-of-options", `${local}^{commit}`]);
  await clone.run(["update-ref", "--no-deref", "HEAD", commit]);
  // Needed to push from it; the address has no password.
  await clone.run(["config", "remote.origin.url", git]);
  await clone.run(["config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"]);
  return commit;
}

async function keep(folder: string, clone: string): Promise<string> {
  if (!existsSync(join(clone, "HEAD"))) {
    await mkdir(join(clone, ".."), { recursive: true, mode: 0o700 });
    await rename(folder, clone).catch((error: unknown) => {
      // Another start created it first, with the same commit.
      if (!existsSync(join(clone, "HEAD"))) throw error;
    });
  }
  // Its age counts from its last use.
  await utimes(clone, new Date(), new Date());
  return clone;
}

/** A server may send for ever, or nothing at all. */
function limited(child: ChildProcessWithoutNullStreams, folder?: string): void {
  const deadline = Date.now() + fetchLimits.ms;
  const over = new AbortController();
  const look = async (): Promise<void> => {
    const bytes = folder === undefined ? 0 : await bytesBelow([folder], fetchLimits.bytes, over.signal);
    if (Date.now() > deadline || bytes > fetchLimits.bytes) child.kill();
  };
  const timer = setInterval(() => void look(), watchEveryMs);
  timer.unref();
  child.on("close", () => {
    clearInterval(timer);
    over.abort();
  });
}

const reportEveryMs = 5_000;

function report(child: ChildProcessWithoutNullStreams, onProgress: CloneOptions["onProgress"]): void {
  let last = Date.now();
  child.stderr.on("data", (chunk: Buffer) => {
    const [percent] = /Receiving objects: +\d+%[^\r\n]*/.exec(chunk.toString()) ?? [];
    if (percent === undefined || Date.now() - last < reportEveryMs) return;
    last = Date.now();
    onProgress?.(percent);
  });
}

function unreachable(git: string, stderr: string): InputInvalid {
  const said = redact(stderr.replace(/^.*\r/gm, "").trim()).split("\n").slice(-3).join(" ");
  const isRefused = /could not read (?:Username|Password)|Authentication|Permission denied|terminal prompts/i;
  return new InputInvalid(`The repository ${git} cannot be fetched: ${said || "git gave no reason"}`, {
    advice: isRefused.test(stderr)
      ? "Give git the credentials: a credential helper (git config --global credential.helper), or a key in ssh-agent. Maestro asks for none."
      : "Check the address and the network: git ls-remote with this address must work in your terminal.",
  });
}
