import { readdir, readFile, stat } from "node:fs/promises";
import { basename, join, relative, resolve, sep } from "node:path";
import { InputInvalid } from "../domain/errors.ts";
import { isJsonObject, type Json, type JsonObject, parseJson } from "../domain/json.ts";
import type { GivenOptions, Maestro, PhaseEdit, StartOptions } from "../index.ts";

const maxBytes = 32 * 1024 * 1024;
const maxFiles = 5_000;
/** Names that are never part of a phase's output. */
const leftOut = new Set([".git", "node_modules", ".maestro-out.json"]);

/** Reads repeated `phase=path` flags. */
export function readPairs(flag: string, pairs: readonly string[]): readonly (readonly [string, string])[] {
  const read = pairs.map((pair) => {
    const at = pair.indexOf("=");
    if (at > 0 && at < pair.length - 1) return [pair.slice(0, at), pair.slice(at + 1)] as const;
    throw new InputInvalid(`${flag} is "${pair}".`, { advice: `Write ${flag} <phase>=<path>.` });
  });
  const names = read.map(([phase]) => phase);
  const twice = names.find((phase, index) => names.indexOf(phase) !== index);
  if (twice !== undefined)
    throw new InputInvalid(`${flag} is given twice for phase ${twice}.`, { advice: "Give it once." });
  return read;
}

/** Replacements for phases: a folder, one of the session's files, or JSON with outputs and files. */
export async function readEdits(
  pairs: readonly string[] = [],
  paths: () => Promise<readonly string[]>,
): Promise<Record<string, PhaseEdit>> {
  const edits: Record<string, PhaseEdit> = {};
  for (const [phase, path] of readPairs("--edit", pairs)) edits[phase] = await readEditFile(path, paths);
  return edits;
}

/** The paths of a session's files. */
export async function pathsOf(maestro: Pick<Maestro, "show">, idOrKey: string): Promise<readonly string[]> {
  return (await maestro.show(idOrKey)).artifacts.map(({ path }) => path);
}

/** Existing output for phases: a folder, a file, or a JSON file with outputs and files. */
export async function readGiven(pairs: readonly string[] = []): Promise<Record<string, GivenOptions>> {
  const given: Record<string, GivenOptions> = {};
  for (const [phase, path] of readPairs("--given", pairs)) {
    const status = await stat(path).catch((cause: unknown) => refuse(path, cause));
    given[phase] = { ...(await giftFrom(path, status.isDirectory())), origin: path };
  }
  return given;
}

/** Undefined without flags: a session found by its key keeps its own attachments. */
export async function readAttachments(
  paths: readonly string[] | undefined,
): Promise<NonNullable<StartOptions["attachments"]> | undefined> {
  if (paths === undefined) return undefined;
  return Promise.all(paths.map(async (path) => ({ name: basename(path), content: await readBytes(path) })));
}

async function giftFrom(path: string, isFolder: boolean): Promise<PhaseEdit> {
  if (isFolder) return { files: await readFolder(path) };
  if (!path.endsWith(".json")) return { files: { [basename(path)]: await readBytes(path) } };
  const content = parseFile(path, await readText(path));
  return isEdit(content) ? editOf(content, path) : { files: { [basename(path)]: await readText(path) } };
}

async function readEditFile(path: string, paths: () => Promise<readonly string[]>): Promise<PhaseEdit> {
  const status = await stat(path).catch((cause: unknown) => refuse(path, cause));
  if (status.isDirectory()) return { files: await readFolder(path) };
  if (path.endsWith(".json")) {
    const content = parseFile(path, await readText(path));
    if (isEdit(content)) return editOf(content, path);
  }
  const known = await paths();
  const place = placeOf(path, known);
  if (place !== undefined) return { files: { [place]: await readBytes(path) } };
  const files =
    known.length === 0 ? "The session has no files yet." : `Its files: ${known.slice(0, 10).join(", ")}.`;
  throw new InputInvalid(`${path} is not an edit, and no file of the session has its name.`, {
    advice: `Give a file of the session, a folder with files at their places, or JSON: {"outputs": {...}, "files": {"path": "content"}}. ${files}`,
  });
}

/**
 * The session file that a path replaces: the one whose path the given path ends with, or the only one with its
 * name.
 */
function placeOf(path: string, known: readonly string[]): string | undefined {
  const given = resolve(path).split(sep).join("/");
  const ends = known.filter((each) => given.endsWith(`/${each}`)).toSorted((a, b) => b.length - a.length);
  const sameName = known.filter((each) => each.split("/").at(-1) === basename(path));
  return ends[0] ?? (sameName.length === 1 ? sameName[0] : undefined);
}

const editKeys = ["outputs", "files", "summary"];

function isEdit(content: Json): content is JsonObject {
  const keys = isJsonObject(content) ? Object.keys(content) : [];
  return keys.length > 0 && keys.every((key) => editKeys.includes(key));
}

function editOf({ outputs, files, summary }: JsonObject, path: string): PhaseEdit {
  const wrong = (what: string) =>
    new InputInvalid(`${path} is not an edit: ${what}.`, {
      advice:
        'Write {"outputs": {...}, "files": {"path": "content"}}; null instead of content removes a file.',
    });
  if (outputs !== undefined && !isJsonObject(outputs)) throw wrong("its outputs are not an object");
  if (summary !== undefined && typeof summary !== "string") throw wrong("its summary is not a text");
  if (files !== undefined && !isFiles(files)) throw wrong("its files are not texts by path");
  return {
    ...(outputs !== undefined && { outputs }),
    ...(files !== undefined && { files }),
    ...(summary !== undefined && { summary }),
  };
}

function isFiles(files: Json): files is Record<string, string | null> {
  return (
    isJsonObject(files) &&
    Object.values(files).every((content) => content === null || typeof content === "string")
  );
}

function parseFile(path: string, text: string): Json {
  try {
    return parseJson(text, { what: path, refuseProto: true });
  } catch (cause) {
    throw new InputInvalid((cause as Error).message, {
      cause,
      advice:
        'A file that ends in .json must be JSON: {"outputs": {...}, "files": {"path": "content"}}, or a file of the session.',
    });
  }
}

async function readFolder(folder: string): Promise<Record<string, Uint8Array>> {
  const files: Record<string, Uint8Array> = {};
  let size = 0;
  // Links are not followed: they could point outside the folder.
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    const path = relative(folder, join(entry.parentPath, entry.name));
    const names = path.split(sep);
    if (!entry.isFile() || names.some((name) => leftOut.has(name))) continue;
    const content = await readBytes(join(folder, path));
    size += content.length;
    files[names.join("/")] = content;
    if (size > maxBytes || Object.keys(files).length > maxFiles)
      throw new InputInvalid(`The folder ${folder} is too large for a phase.`, {
        advice: `At most ${maxFiles} files with ${maxBytes} bytes together.`,
      });
  }
  return files;
}

async function readBytes(path: string): Promise<Buffer> {
  try {
    const { size } = await stat(path);
    if (size > maxBytes)
      throw new InputInvalid(`The file ${path} has ${size} bytes; at most ${maxBytes} are taken.`);
    return await readFile(path);
  } catch (cause) {
    return refuse(path, cause);
  }
}

async function readText(path: string): Promise<string> {
  const content = await readBytes(path);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content);
  } catch (cause) {
    throw new InputInvalid(`The file ${path} is not text (UTF-8).`, {
      advice: "JSON must be UTF-8 text.",
      cause,
    });
  }
}

function refuse(path: string, cause: unknown): never {
  if (InputInvalid.is(cause)) throw cause;
  throw new InputInvalid(
    `${path} cannot be read: ${(cause as NodeJS.ErrnoException).code ?? String(cause)}.`,
    {
      advice: "Check the path; it is relative to the current folder.",
      cause,
    },
  );
}
