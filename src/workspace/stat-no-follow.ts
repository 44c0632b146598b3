import { sha256 } from "../domain/canonical.ts";
import { OpenFolder } from "./open-folder.ts";
import type { Found } from "./out-plan.ts";
import { readFile, reasonOf } from "./read-file.ts";

const maxFileBytes = 64 * 1024 * 1024;

/** Inspects one path without following a link anywhere on the way. */
export async function findIn(root: OpenFolder, path: string): Promise<Found> {
  const names = path.split("/");
  const name = names.pop() ?? "";
  try {
    return (await inFolder(root, names, (folder) => look(folder, name))) ?? { kind: "absent" };
  } catch (error) {
    return { kind: "other", reason: `the way to it is blocked: ${reasonOf(error)}`, isBeside: false };
  }
}

async function look(folder: OpenFolder, name: string): Promise<Found> {
  // The content is only compared, so a second name, which a crash of ours may leave, does no harm here.
  const reading = await readFile(folder, name, maxFileBytes, { mayBeHardLink: true });
  if (reading.kind === "read") return { kind: "file", sha256: sha256(reading.content), mode: reading.mode };
  const isThere = await folder.statusOf(name).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== "ENOENT",
  );
  return isThere ? { kind: "other", reason: reading.reason, isBeside: true } : { kind: "absent" };
}

/** Opens one folder after the other; undefined if one is missing. */
export async function inFolder<T>(
  root: OpenFolder,
  names: readonly string[],
  work: (folder: OpenFolder) => Promise<T>,
): Promise<T | undefined> {
  const [first, ...rest] = names;
  if (first === undefined) return work(root);
  let folder: OpenFolder;
  try {
    folder = await root.folder(first);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  try {
    return await inFolder(folder, rest, work);
  } finally {
    await folder.close();
  }
}
