import { constants } from "node:fs";
import { open, readdir, realpath, unlink } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { sha256 } from "../domain/canonical.ts";
import { isoTime } from "../domain/iso-time.ts";
import { isJsonObject, parseJson } from "../domain/json.ts";
import { makeDirectoryDurably, writeDurably } from "../store/durable-file.ts";
import { trustsAll } from "./trust-variable.ts";
import { userFolder } from "./user-folder.ts";

/** A file that a person trusted, with its content at that time. */
export interface TrustedFile {
  /** The path in the real path of its folder. */
  readonly path: string;
  /** Hash of the file's bytes. For a configuration that is code, it includes files imported by path. */
  readonly sha256: string;
}

const mostBytes = 16 * 1024;

/** One entry file per trusted path, so that two concurrent commands never overwrite each other. */
export async function isTrusted(
  { path, sha256: content }: TrustedFile,
  env: NodeJS.ProcessEnv,
): Promise<boolean> {
  if (trustsAll(env)) return true;
  const remembered = await readEntry(join(trustFolder(env), nameOf(path)));
  return remembered?.path === path && remembered.sha256 === content;
}

export async function rememberTrust({ path, sha256 }: TrustedFile, env: NodeJS.ProcessEnv): Promise<void> {
  const folder = trustFolder(env);
  await makeDirectoryDurably(folder);
  const entry = { path, sha256, trustedAt: isoTime(Date.now()) };
  await writeDurably(join(folder, nameOf(path)), `${JSON.stringify(entry)}\n`);
}

/** Forgets a file, or every file below a folder, which may no longer exist. Returns the paths. */
export async function revokeTrust(place: string, env: NodeJS.ProcessEnv): Promise<readonly string[]> {
  const folder = trustFolder(env);
  const targets = [await realFolder(resolve(place)), await fileIn(place)];
  const revoked: string[] = [];
  for (const name of await readdir(folder).catch(() => [])) {
    const entry = await readEntry(join(folder, name));
    if (entry === undefined || !targets.some((target) => isWithin(target, entry.path))) continue;
    await unlink(join(folder, name));
    revoked.push(entry.path);
  }
  return revoked.sort();
}

/** Only the folder's own links are resolved: trust does not follow a link to a file that is trusted elsewhere. */
export async function fileIn(path: string): Promise<string> {
  const whole = resolve(path);
  return join(await realFolder(dirname(whole)), basename(whole));
}

const realFolder = (path: string): Promise<string> => realpath(path).catch(() => path);

const trustFolder = (env: NodeJS.ProcessEnv): string => join(userFolder(env), "trusted");
const nameOf = (path: string): string => `${sha256(path)}.json`;

const isWithin = (folder: string, path: string): boolean => {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith("../");
};

/** Undefined unless only this user can have written the entry. */
async function readEntry(path: string): Promise<TrustedFile | undefined> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    () => undefined,
  );
  if (file === undefined) return undefined;
  try {
    const { mode, uid, size } = await file.stat();
    const isOwn = (process.geteuid?.() ?? uid) === uid && (mode & 0o022) === 0;
    if (!isOwn || size > mostBytes) return undefined;
    const entry = parseJson(await file.readFile("utf8"));
    if (!isJsonObject(entry)) return undefined;
    const { path: of, sha256: content } = entry;
    return typeof of === "string" && typeof content === "string" ? { path: of, sha256: content } : undefined;
  } catch {
    return undefined;
  } finally {
    await file.close();
  }
}
