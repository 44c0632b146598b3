import { chmod, open, readdir, stat, unlink } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { StateUnavailable } from "../domain/errors.ts";
import { makeDirectories } from "./durable-file.ts";

export interface StateDirectory {
  readonly path: string;
  /** A line for the user if it is not the expected directory. */
  readonly notice: string | undefined;
  /** Only when opened for reading: why it cannot be written. */
  readonly unwritable?: StateUnavailable;
  /** Only when opened for reading: it does not exist and is not created. */
  readonly isMissing?: true;
}

interface Options {
  /** From a flag, the environment or the configuration. Used or refused, never replaced. */
  readonly explicit?: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly defaultPath?: string | undefined;
  /** Creates nothing, and also opens a directory on a full or read-only disk, because that is when people look. */
  readonly forReading?: boolean | undefined;
}

const howToChoose = "choose another directory with --state-dir or MAESTRO_STATE_DIR";

/** Finds the state directory, creates it if it is missing (unless `forReading`), and proves that it is writable. */
export async function resolveStateDirectory(options: Options): Promise<StateDirectory> {
  const { explicit, forReading = false } = options;
  if (explicit !== undefined) {
    const path = resolve(explicit);
    return prepare(path, forReading).then(
      () => ({ path, notice: undefined }),
      (error: unknown) => lookOrRefuse(path, error, options),
    );
  }
  const expected = options.defaultPath ?? "/var/maestro/state";
  try {
    await prepare(expected, forReading);
    return { path: expected, notice: undefined };
  } catch (error) {
    // A full disk may hold sessions, and using another directory would make them look lost.
    if (isFull(error)) return lookOrRefuse(expected, error, options);
    const path = ownDirectory(options.env);
    try {
      await prepare(path, forReading);
    } catch (second) {
      const isMissing = forReading && [error, second].every((each) => codeOf(each) === "ENOENT");
      if (isMissing) return { path: expected, notice: undefined, isMissing };
      return await lookOrRefuse(path, second, options, `${expected} neither (${reason(error)})`);
    }
    const notice = `State is kept in ${path}, because ${expected} cannot be used (${reason(error)}); ${howToChoose}.`;
    return { path, notice };
  }
}

async function lookOrRefuse(
  path: string,
  error: unknown,
  { forReading = false }: Options,
  also?: string,
): Promise<StateDirectory> {
  if (forReading && codeOf(error) === "ENOENT") return { path, notice: undefined, isMissing: true };
  const unwritable = refusal(path, error, also);
  const isThere = forReading && (await stat(join(path, "maestro.db")).catch(() => undefined)) !== undefined;
  if (!isThere) throw unwritable;
  return { path, notice: `${unwritable.message} It is opened read-only.`, unwritable };
}

/** By the XDG rule, a relative path is ignored. */
function ownDirectory(env: NodeJS.ProcessEnv): string {
  const { XDG_STATE_HOME: stateHome, HOME: home } = env;
  if (stateHome !== undefined && isAbsolute(stateHome)) return join(stateHome, "maestro");
  return join(home !== undefined && isAbsolute(home) ? home : homedir(), ".local/state/maestro");
}

async function prepare(path: string, mustExist: boolean): Promise<void> {
  const isNew = mustExist ? !(await stat(path)) : await makeDirectories(path);
  if (!isNew) await closeToOthers(path);
  await proveWritable(path);
}

/**
 * Changes only a directory of this user that contains nothing but state: `--state-dir /tmp` must not lock others
 * out.
 */
async function closeToOthers(path: string): Promise<void> {
  const { mode, uid } = await stat(path);
  if ((mode & 0o077) === 0 || uid !== process.geteuid?.()) return;
  const names = await readdir(path);
  if (names.length === 0 || names.includes("maestro.db")) await chmod(path, 0o700);
}

/**
 * Writes a real file: access(2) tells root that a read-only file system is writable, and nothing about a full one.
 * The name is removed before a byte is written, so neither a full disk nor a kill leaves it behind.
 */
async function proveWritable(path: string): Promise<void> {
  const probe = join(path, `.probe-${process.pid}-${process.hrtime.bigint()}`);
  const handle = await open(probe, "wx", 0o600);
  try {
    await unlink(probe);
    await handle.writeFile(Buffer.alloc(4096));
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function refusal(path: string, error: unknown, also?: string): StateUnavailable {
  const full = isFull(error);
  return new StateUnavailable(
    `The state directory ${path} cannot be used: ${reason(error)}${also === undefined ? "" : `; ${also}`}.`,
    {
      details: { path, code: codeOf(error) },
      advice: full
        ? `Free some space, or ${howToChoose}.`
        : `Make it writable for this user, or ${howToChoose}.`,
      cause: error,
    },
  );
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "read-only file system",
  ENOTDIR: "part of the path is not a directory",
  EEXIST: "it is not a directory",
  ENOENT: "part of the path does not exist and cannot be created",
  ENOSPC: "no space left on the device",
  EDQUOT: "the disk quota is used up",
  EIO: "the disk reports an input/output error",
  ELOOP: "too many symbolic links",
  ENAMETOOLONG: "the name is too long",
};

function reason(error: unknown): string {
  return reasons[codeOf(error)] ?? (error instanceof Error ? error.message : String(error));
}

function isFull(error: unknown): boolean {
  return codeOf(error) === "ENOSPC" || codeOf(error) === "EDQUOT";
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? "";
}
