import { access, realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join } from "node:path";
import { findProgram } from "./find-program.ts";

/** A program's real location and the part of the disk that it needs. */
export interface Install {
  /** The name by which it is called. */
  readonly path: string;
  readonly target: string;
  /** The smallest folder that contains all of it. */
  readonly root: string;
}

/** Finds a program that a user installed, usually in the home folder. */
export async function findInstall(
  program: string,
  folders: readonly string[],
  onlyInstalled = false,
): Promise<Install | undefined> {
  const path = program.includes("/") ? program : await findProgram(program, folders);
  if (path === undefined || !isAbsolute(path)) return undefined;
  if (onlyInstalled && !folders.includes(dirname(path))) return undefined;
  const target = await realpath(path).catch(() => undefined);
  return target === undefined ? undefined : { path, target, root: await rootOf(target) };
}

/** Never a whole `~/.local` or `~/.cargo`, where keys are stored beside programs. */
async function rootOf(target: string): Promise<string> {
  const parts = target.split("/");
  const modules = parts.indexOf("node_modules");
  if (modules !== -1) return parts.slice(0, modules + 1).join("/");
  const folder = dirname(target);
  const prefix = dirname(folder);
  if (basename(folder) === "bin" && (await exists(join(prefix, "pyvenv.cfg")))) return prefix;
  return target;
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
