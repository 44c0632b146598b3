import { constants } from "node:fs";
import { InputInvalid } from "../domain/errors.ts";
import { isJsonObject, type Json, parseJson } from "../domain/json.ts";
import { checkPath } from "../domain/tree-path.ts";
import type { OpenFolder } from "./open-folder.ts";
import { readFile } from "./read-file.ts";

export const manifestName = ".maestro-out.json";
const format = 1;
const maxBytes = 32 * 1024 * 1024;
const hashForm = /^[0-9a-f]{64}$/;

/** What Maestro has put into a folder; all else there belongs to somebody else. */
export interface OutManifest {
  /** Files by path, each with the hashes it may have; two of them while a write is under way. */
  readonly files: ReadonlyMap<string, readonly string[]>;
  /** The last version that was offered beside a file which is not ours. */
  readonly offered: ReadonlyMap<string, string>;
  readonly folders: readonly string[];
}

export const emptyManifest: OutManifest = { files: new Map(), offered: new Map(), folders: [] };

export function manifestText({ files, offered, folders }: OutManifest): string {
  const sorted = <V>(map: ReadonlyMap<string, V>): Record<string, V> =>
    Object.fromEntries([...map].sort(([a], [b]) => (a < b ? -1 : 1)));
  const content = {
    note: "Maestro wrote these files. It replaces or removes one only while it still has a hash from this list.",
    format,
    files: sorted(files),
    offered: sorted(offered),
    folders: folders.toSorted(),
  };
  return `${JSON.stringify(content, undefined, 2)}\n`;
}

/** A folder without a manifest has nothing of ours. One that cannot be read is not guessed about. */
export async function readManifest(folder: OpenFolder, directory: string): Promise<OutManifest> {
  const isThere = (await folder.list(Number.MAX_SAFE_INTEGER)).some(
    ({ name }) => name.toString() === manifestName,
  );
  if (!isThere) return emptyManifest;
  const reading = await readFile(folder, manifestName, maxBytes);
  if (reading.kind === "refused") throw unusable(directory, reading.reason);
  const value = parseJson(reading.content, { what: manifestName });
  if (isJsonObject(value) && typeof value["format"] === "number" && value["format"] > format)
    throw unusable(directory, "a newer version of Maestro wrote it");
  const manifest = parse(value);
  if (manifest === undefined) throw unusable(directory, "it is not a list that Maestro wrote");
  return manifest;
}

/** Durable, and never over another one. */
export async function putManifest(folder: OpenFolder, text: string): Promise<void> {
  const file = await folder.file(
    manifestName,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL,
    0o666,
  );
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

function parse(value: Json): OutManifest | undefined {
  if (!isJsonObject(value) || value["format"] !== format) return undefined;
  const { files, offered, folders } = value;
  if (!isJsonObject(files) || !isJsonObject(offered) || !Array.isArray(folders)) return undefined;
  const isHashes = (hashes: Json): boolean => Array.isArray(hashes) && hashes.every(isHash);
  const isGood =
    Object.values(files).every(isHashes) &&
    Object.values(offered).every(isHash) &&
    [...Object.keys(files), ...Object.keys(offered), ...(folders as readonly Json[])].every(isPath);
  if (!isGood) return undefined;
  return {
    files: new Map(Object.entries(files) as [string, string[]][]),
    offered: new Map(Object.entries(offered) as [string, string][]),
    folders: folders as string[],
  };
}

const isHash = (value: unknown): boolean => typeof value === "string" && hashForm.test(value);

export function isPath(value: unknown): boolean {
  try {
    return typeof value === "string" && checkPath(value) === value;
  } catch {
    return false;
  }
}

const unusable = (directory: string, reason: string): InputInvalid =>
  new InputInvalid(`${directory} has a ${manifestName} that cannot be used: ${reason}.`, {
    advice: "Move that file away, or name another folder. Without it nothing there counts as Maestro's.",
  });
