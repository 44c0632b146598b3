import { spawn } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { buffer } from "node:stream/consumers";
import { InputInvalid } from "../../domain/errors.ts";
import { redact } from "../../domain/redact.ts";
import { showPath } from "../../domain/tree-path.ts";
import { findProgram, searchPath } from "../find-program.ts";
import type { Git } from "./git.ts";

const pushTimeoutMs = 120_000;
const maxErrorText = 2_000;

/** Variables that select another repository or programs for it. */
const ofRepository =
  /^GIT_(?:DIR|WORK_TREE|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|COMMON_DIR|PREFIX|NAMESPACE|CONFIG|CONFIG_PARAMETERS|CONFIG_COUNT|CONFIG_KEY_\d+|CONFIG_VALUE_\d+)$/;

export interface PushOrder {
  readonly branch: string;
  readonly commit: string;
  /** The name of a remote of the repository. */
  readonly remote: string;
  readonly signal?: AbortSignal | undefined;
}

/** The address of a remote. Throws if the repository has no such remote. */
export async function remoteUrl(git: Git, remote: string): Promise<string> {
  const { code, stdout } = await git.try(["remote", "get-url", "--push", "--", remote]);
  const url = stdout.toString().trim();
  if (code === 0 && url !== "" && !url.startsWith("-")) return url;
  const known = (await git.text(["remote"])).split("\n").filter((name) => name !== "");
  throw new InputInvalid(`The repository ${showPath(git.folder)} has no remote ${showPath(remote)}.`, {
    advice:
      known.length === 0
        ? `Add it: git remote add ${remote} <address>`
        : `Name one of its remotes: ${known.join(", ")}.`,
  });
}

/**
 * Pushes a branch with the user's own credentials. Git does not read the untrusted repository's configuration for
 * it, so neither its hooks nor its programs run. Never forces: a remote branch with other commits stays.
 */
export async function pushBranch(git: Git, { branch, commit, remote, signal }: PushOrder): Promise<void> {
  const url = await remoteUrl(git, remote);
  await using place = await PushPlace.open(git, signal);
  const ref = `refs/heads/${branch}`;
  const listed = await place.run(["ls-remote", "--end-of-options", url, ref]);
  if (listed.code !== 0) throw refused(branch, remote, listed.stderr);
  const there = listed.stdout
    .split("\n")
    .map((line) => line.split("\t"))
    .find(([, name]) => name === ref)?.[0];
  if (there === commit) return;
  if (there !== undefined)
    throw new InputInvalid(
      `The remote ${showPath(remote)} has a branch ${showPath(branch)} with other commits.`,
      {
        advice: `Deliver under another name. Or remove it, if it is not needed: git push ${remote} --delete ${branch}`,
      },
    );
  const pushed = await place.run([
    "push",
    "--porcelain",
    "--no-verify",
    "--end-of-options",
    url,
    `${commit}:${ref}`,
  ]);
  if (pushed.code !== 0) throw refused(branch, remote, `${pushed.stderr}\n${rejections(pushed.stdout)}`);
}

const rejections = (porcelain: string): string =>
  porcelain
    .split("\n")
    .filter((line) => line.startsWith("!"))
    .join("\n");

function refused(branch: string, remote: string, said: string): InputInvalid {
  const reason = redact(said.replaceAll(/\/\/[^/@\s]*@/g, "//").trim()).slice(0, maxErrorText);
  return new InputInvalid(
    `The branch ${showPath(branch)} was not pushed to ${showPath(remote)}: ${reason || "git gave no reason"}`,
    {
      advice: `The branch is in your repository, and nothing was forced. Check that you may push: git push ${remote} ${branch}`,
      details: { branch, remote },
    },
  );
}

interface PushEnding {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A temporary repository that borrows the objects of another one without its configuration. */
class PushPlace implements AsyncDisposable {
  readonly #git: Git;
  readonly #folder: string;
  readonly #program: string;
  readonly #headers: readonly (readonly [key: string, value: string])[];
  readonly #signal: AbortSignal;

  private constructor(
    git: Git,
    folder: string,
    program: string,
    headers: readonly (readonly [string, string])[],
    signal: AbortSignal | undefined,
  ) {
    this.#git = git;
    this.#folder = folder;
    this.#program = program;
    this.#headers = headers;
    const timeout = AbortSignal.timeout(pushTimeoutMs);
    this.#signal = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
  }

  static async open(git: Git, signal: AbortSignal | undefined): Promise<PushPlace> {
    const program = (await findProgram("git", searchPath())) ?? "git";
    const folder = await mkdtemp(join(tmpdir(), "maestro-push-"));
    const place = new PushPlace(git, folder, program, await headersOf(git), signal);
    try {
      const format = await git.text(["rev-parse", "--show-object-format"]);
      await place.run(["init", "--quiet", "--bare", "--template=", `--object-format=${format}`, folder]);
      const at = async (name: string) =>
        resolve(git.folder, await git.text(["rev-parse", "--git-path", name]));
      await mkdir(join(folder, "objects", "info"), { recursive: true });
      await writeFile(join(folder, "objects", "info", "alternates"), `${await at("objects")}\n`);
      const shallow = await readFile(await at("shallow")).catch(() => undefined);
      if (shallow !== undefined) await writeFile(join(folder, "shallow"), shallow);
      return place;
    } catch (error) {
      await place[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Runs in the repository's folder, because the address of a remote may be relative to it. */
  async run(args: readonly string[]): Promise<PushEnding> {
    const child = spawn(this.#program, ["--no-pager", ...args], {
      cwd: this.#git.folder,
      env: this.#environment(),
      stdio: ["ignore", "pipe", "pipe"],
      signal: this.#signal,
      killSignal: "SIGKILL",
    });
    const ended = new Promise<number>((settle) => {
      child.on("error", () => settle(128));
      child.on("close", (code) => settle(code ?? 128));
    });
    const [code, stdout, stderr] = await Promise.all([
      ended,
      buffer(child.stdout).catch(() => Buffer.alloc(0)),
      buffer(child.stderr).catch(() => Buffer.alloc(0)),
    ]);
    const why = this.#signal.aborted ? "it was interrupted or took too long" : stderr.toString();
    return { code, stdout: stdout.toString(), stderr: why };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }

  #environment(): NodeJS.ProcessEnv {
    const settings = [
      ["core.hooksPath", "/dev/null"],
      ["protocol.ext.allow", "never"],
      ["push.gpgSign", "false"],
      ["push.followTags", "false"],
      ["push.recurseSubmodules", "no"],
      ["gc.auto", "0"],
      ...this.#headers,
    ].flatMap(([key, value], number) => [
      [`GIT_CONFIG_KEY_${number}`, key],
      [`GIT_CONFIG_VALUE_${number}`, value],
    ]);
    return {
      ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !ofRepository.test(name))),
      ...Object.fromEntries(settings),
      GIT_CONFIG_COUNT: String(settings.length / 2),
      GIT_DIR: this.#folder,
      GIT_TERMINAL_PROMPT: "0",
      LC_ALL: "C",
    };
  }
}

/** CI services store their credentials as headers in the repository. Headers are not programs, so they are kept. */
async function headersOf(git: Git): Promise<readonly (readonly [string, string])[]> {
  const { stdout } = await git.try([
    "config",
    "--local",
    "-z",
    "--get-regexp",
    "^http\\..*\\.extraheader$|^http\\.extraheader$",
  ]);
  return stdout
    .toString()
    .split("\0")
    .filter((entry) => entry.includes("\n"))
    .map((entry) => [entry.slice(0, entry.indexOf("\n")), entry.slice(entry.indexOf("\n") + 1)] as const);
}
