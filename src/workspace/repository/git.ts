import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { buffer } from "node:stream/consumers";
import { InputInvalid } from "../../domain/errors.ts";
import { redact } from "../../domain/redact.ts";
import { findProgram, searchPath } from "../find-program.ts";

/** Maximum length of git's error text. */
const maxErrorText = 2_000;

/** Repository settings that make git start programs, with harmless values. */
const harmless: readonly (readonly [key: string, value: string])[] = [
  ["core.fsmonitor", "false"],
  ["core.hooksPath", "/dev/null"],
  ["core.untrackedCache", "false"],
  ["core.sshCommand", ""],
  ["core.askPass", ""],
  ["core.pager", "cat"],
  // A bare repository is used only if a person or Maestro names it.
  ["safe.bareRepository", "all"],
  ["core.attributesFile", ""],
  ["commit.gpgSign", "false"],
  // Without this, a commit would depend on the machine.
  ["i18n.commitEncoding", "UTF-8"],
  ["core.safecrlf", "false"],
  ["diff.external", ""],
  ["gc.auto", "0"],
  ["maintenance.auto", "false"],
];

/**
 * For a transfer in our own repository. The user's settings apply: credentials, proxies, certificates, ssh. No
 * remote can name a program, and nothing from the fetched repository runs.
 */
const ofTransfer: readonly (readonly [key: string, value: string])[] = [
  ...harmless.filter(([key]) => key !== "core.sshCommand"),
  ["protocol.allow", "never"],
  ...["https", "http", "ssh", "git", "file"].map((name) => [`protocol.${name}.allow`, "always"] as const),
  ["protocol.ext.allow", "never"],
  ["fetch.recurseSubmodules", "false"],
  ["submodule.recurse", "false"],
  ["credential.interactive", "false"],
];

/** The locations of the user's own settings. */
const settingsVariables = ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"];
const transferVariables = [
  "GIT_SSH",
  "GIT_SSH_COMMAND",
  "GIT_SSH_VARIANT",
  "GIT_SSL_CAINFO",
  "GIT_SSL_CAPATH",
  "GIT_SSL_CERT",
  "GIT_SSL_KEY",
];

/**
 * The system's git in one repository. The repository is untrusted: its hooks, filters and other programs never run,
 * and nothing is written to it unless a command here says so. Arguments never pass through a shell.
 */
export class Git {
  readonly folder: string;
  readonly #program: string;
  readonly #config: readonly (readonly [string, string])[];
  readonly #isOurs: boolean;

  private constructor(
    folder: string,
    program: string,
    config: readonly (readonly [string, string])[],
    { isOurs = false }: { readonly isOurs?: boolean } = {},
  ) {
    this.folder = folder;
    this.#program = program;
    this.#config = config;
    this.#isOurs = isOurs;
  }

  /**
   * Creates a bare repository in the folder, for transfers with a remote called `source`. The address is in no
   * argument, where other users of the machine could read it, and in no file.
   */
  static async forTransfer(folder: string, address: string): Promise<Git> {
    const config = [...ofTransfer, ["remote.source.url", address] as const];
    const git = new Git(folder, await gitProgram(), config, { isOurs: true });
    await git.run(["init", "--bare", "--quiet", "--template="]);
    const { code } = await git.try(["config", "--get", "core.sshCommand"]);
    const isOwn =
      code === 0 || ["GIT_SSH", "GIT_SSH_COMMAND"].some((name) => process.env[name] !== undefined);
    // Otherwise ssh would ask on the terminal.
    return isOwn
      ? git
      : new Git(folder, git.#program, [...config, ["core.sshCommand", "ssh -o BatchMode=yes"]], {
          isOurs: true,
        });
  }

  static async in(folder: string): Promise<Git> {
    const program = await gitProgram();
    const bare = new Git(folder, program, harmless);
    const keys = await bare.#filterKeys();
    return new Git(folder, program, [...harmless, ...keys.map((key) => [key, ""] as const)]);
  }

  /** The same git with more settings, for commands from another folder. Their environment must name the repository. */
  from(folder: string, settings: readonly (readonly [key: string, value: string])[]): Git {
    return new Git(folder, this.#program, [...this.#config, ...settings], { isOurs: this.#isOurs });
  }

  /** The output of a command that must succeed. */
  async run(args: readonly string[], options: GitOptions = {}): Promise<Buffer> {
    const { code, stdout, stderr } = await this.try(args, options);
    if (code === 0) return stdout;
    throw new GitFailed(args, code, stderr);
  }

  async text(args: readonly string[], options: GitOptions = {}): Promise<string> {
    return (await this.run(args, options)).toString().replace(/\n$/, "");
  }

  async try(args: readonly string[], { input, env = {}, watch }: GitOptions = {}): Promise<GitEnding> {
    const child = this.spawn(args, env);
    child.stdin.end(input);
    watch?.(child);
    const [stdout, stderr, code] = await Promise.all([
      buffer(child.stdout),
      buffer(child.stderr),
      ended(child),
    ]);
    const said = stderr.toString().slice(0, maxErrorText).trim();
    return { code, stdout, stderr: said === "" && code === byBusError.code ? byBusError.stderr : said };
  }

  /** For commands that answer incrementally. */
  spawn(args: readonly string[], env: Readonly<Record<string, string>> = {}): ChildProcessWithoutNullStreams {
    const child = spawn(this.#program, ["--no-pager", "--no-replace-objects", "-C", this.folder, ...args], {
      env: { ...this.#environment(), ...env },
      stdio: ["pipe", "pipe", "pipe"],
    });
    // It may end before it has read everything.
    child.stdin.on("error", () => undefined);
    return child;
  }

  /**
   * Excludes the caller's git variables, such as GIT_DIR in a hook. Settings are passed as variables, because names
   * may contain any character.
   */
  #environment(): NodeJS.ProcessEnv {
    const inherited = Object.entries(process.env).filter(
      ([name]) =>
        !name.startsWith("GIT_") ||
        settingsVariables.includes(name) ||
        (this.#isOurs && transferVariables.includes(name)),
    );
    const settings = this.#config.flatMap(([key, value], number) => [
      [`GIT_CONFIG_KEY_${number}`, key],
      [`GIT_CONFIG_VALUE_${number}`, value],
    ]);
    return {
      ...Object.fromEntries(inherited),
      ...Object.fromEntries(settings),
      GIT_CONFIG_COUNT: String(this.#config.length),
      // Our folder may be inside another repository, whose settings must not apply.
      ...(this.#isOurs && { GIT_DIR: this.folder }),
      GIT_OPTIONAL_LOCKS: "0",
      GIT_TERMINAL_PROMPT: "0",
      GIT_NO_LAZY_FETCH: "1",
      // An older git fetches what a partial clone lacks all the same, by programs that the clone names.
      ...(!this.#isOurs && { GIT_ALLOW_PROTOCOL: "none" }),
      LC_ALL: "C",
    };
  }

  async #filterKeys(): Promise<readonly string[]> {
    const { stdout } = await this.try(["config", "--name-only", "-z", "--get-regexp", "^filter\\..*"]);
    return [...new Set(stdout.toString().split("\0"))].filter((key) =>
      /\.(?:clean|smudge|process|required)$/i.test(key),
    );
  }
}

async function gitProgram(): Promise<string> {
  const program = await findProgram("git", searchPath());
  if (program !== undefined) return program;
  throw new InputInvalid("git is not installed.", {
    advice: "Install git, for example with: apt-get install git",
  });
}

interface GitOptions {
  readonly input?: string | Uint8Array;
  readonly env?: Readonly<Record<string, string>>;
  /** Receives the running program, to follow its output or to end it. */
  readonly watch?: (child: ChildProcessWithoutNullStreams) => void;
}

interface GitEnding {
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** A command failed unexpectedly. Git's own message says why. */
export class GitFailed extends InputInvalid {
  constructor([command = ""]: readonly string[], code: number, stderr: string) {
    super(`git ${command} failed (exit ${code}): ${redact(stderr) || "it gave no reason"}`, {
      advice: "Run the same command in the repository to see what is wrong.",
      details: { command, exitCode: code },
    });
  }
}

/** A partial clone, or a damaged repository. */
export const objectMissing = (oid: string): InputInvalid =>
  new InputInvalid(`The repository lacks the object ${oid}.`, {
    advice: "If it is a partial clone, fetch the rest first: git fetch --refetch --no-filter",
  });

/** Git maps files into memory. If one becomes shorter meanwhile, a signal ends git. */
const byBusError = { code: 135, stderr: "a file changed while git read it" } as const;

const ended = (child: ChildProcessWithoutNullStreams): Promise<number> =>
  new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => resolve(code ?? (signal === "SIGBUS" ? byBusError.code : 128)));
  });
