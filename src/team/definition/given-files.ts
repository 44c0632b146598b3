import { closeSync, constants, fstatSync, opendirSync, openSync, readSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, isAbsolute, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { sha256 } from "../../domain/canonical.ts";
import { InputInvalid } from "../../domain/errors.ts";
import { checkBasePath, foldPath, showPath } from "../../domain/tree-path.ts";
import {
  type ContextFile,
  type GivenFile,
  notesFile,
  type SkillDefinition,
  skillFile,
} from "../../personas/guidance.ts";
import { secretByContent, secretByName } from "../../workspace/repository/secret-files.ts";
import { decodeText } from "../../workspace/text.ts";

export const givenLimits = {
  skillFileBytes: 1024 * 1024,
  skillBytes: 8 * 1024 * 1024,
  skillFiles: 200,
  skillDepth: 8,
  frontMatterBytes: 16 * 1024,
  description: 1024,
  contextBytes: 64 * 1024,
  /** Limit for a whole team, because a stranger's file must not fill the memory. */
  teamBytes: 32 * 1024 * 1024,
} as const;

/** Why a file cannot be given. Completes "skills[0] is ...: ". */
export class GivenFault extends Error {}

/**
 * Reads the skills and texts that a team names, when the team is read, so that a session gets what the fingerprint
 * covers. A team file names paths in its own folder and cannot leave it, not even by a link. A team in code names
 * absolute paths.
 */
export class GivenFiles {
  /** By SHA-256, until a session stores them. */
  readonly contents = new Map<string, Buffer>();
  /** The folder of the team file; undefined for a team in code. */
  readonly #home: string | undefined;
  readonly #skills = new Map<string, SkillDefinition>();
  #bytes = 0;

  constructor(home?: string) {
    this.#home = home;
  }

  skill(written: string | URL): SkillDefinition {
    const folder = this.#resolve(written, "folder");
    const known = this.#skills.get(folder);
    if (known !== undefined) return known;
    const skill = this.#readSkill(folder);
    this.#skills.set(folder, skill);
    return skill;
  }

  context(written: string | URL): ContextFile {
    if (typeof written === "string" && /^(?:\.\/)*AGENTS\.md$/.test(written)) {
      // Every repository may have one, in which case it is read from the session's files.
      if (this.#home === undefined) return { path: notesFile };
      try {
        realpathSync(join(this.#home, notesFile));
      } catch {
        return { path: notesFile };
      }
    }
    const file = this.#resolve(written, "file");
    const path = this.#home === undefined ? basename(file) : inside(String(written));
    const given = this.#take(path, readBounded(file, givenLimits.contextBytes));
    if (decodeText(this.contents.get(given.sha256) ?? Buffer.of(0)) === undefined)
      throw new GivenFault("it is not UTF-8 text.");
    return given;
  }

  #resolve(written: string | URL, what: "folder" | "file"): string {
    if (this.#home === undefined) return real(absolute(written, what), what);
    const found = real(resolve(this.#home, inside(String(written))), what);
    if (!isWithin(found, real(this.#home, "folder")))
      throw new GivenFault("it is a link out of the folder of the team file.");
    return found;
  }

  #readSkill(folder: string): SkillDefinition {
    const files: GivenFile[] = [];
    const names = new Map<string, string>();
    let room: number = givenLimits.skillBytes;
    for (const path of pathsBelow(folder)) {
      const other = names.get(foldPath(path));
      if (other !== undefined)
        throw new GivenFault(`its files ${showPath(other)} and ${showPath(path)} are one on some disks.`);
      names.set(foldPath(path), path);
      const found = real(join(folder, path), "file");
      if (!isWithin(found, folder)) throw new GivenFault(`${showPath(path)} is a link out of the folder.`);
      try {
        const content = readBounded(found, givenLimits.skillFileBytes);
        room -= content.length;
        files.push(this.#take(path, content));
      } catch (error) {
        if (error instanceof GivenFault)
          throw new GivenFault(`its file ${showPath(path)} cannot be taken: ${error.message}`);
        throw error;
      }
      if (room < 0)
        throw new GivenFault(`its files have more than ${givenLimits.skillBytes} bytes together.`);
    }
    const first = files.find(({ path }) => path === skillFile);
    if (first === undefined) throw new GivenFault(`it has no ${skillFile}.`);
    return { ...frontMatterOf(this.contents.get(first.sha256) ?? Buffer.of()), files };
  }

  #take(path: string, content: Buffer): GivenFile {
    try {
      checkBasePath(path);
    } catch (error) {
      if (InputInvalid.is(error)) throw new GivenFault(error.message);
      throw error;
    }
    const secret = secretByName(path) ?? secretByContent(content);
    if (secret !== undefined) throw new GivenFault(`${secret}, and a model would read them.`);
    this.#bytes += content.length;
    if (this.#bytes > givenLimits.teamBytes)
      throw new GivenFault(`the team's skills and texts have more than ${givenLimits.teamBytes} bytes.`);
    const hash = sha256(content);
    this.contents.set(hash, content);
    return { path, sha256: hash, bytes: content.length };
  }
}

function absolute(written: string | URL, what: string): string {
  if (written instanceof URL && written.protocol === "file:") return fileURLToPath(written);
  if (typeof written === "string" && isAbsolute(written)) return written;
  throw new GivenFault(
    `a team in code names a ${what} absolutely, such as new URL("./skills/review", import.meta.url).`,
  );
}

/** The normalized path. A path whose spelling leaves its folder is refused. */
function inside(written: string): string {
  const names = written.split("/").filter((name) => name !== "" && name !== ".");
  if (isAbsolute(written) || written.includes("\\") || names.includes("..") || names.length === 0)
    throw new GivenFault("a team file names paths in its own folder, such as ./skills/review.");
  return names.join("/");
}

const isWithin = (path: string, folder: string): boolean => {
  const way = relative(folder, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
};

function real(path: string, what: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") throw new GivenFault(`there is no such ${what}.`);
    throw new GivenFault(`it cannot be read: ${code ?? String(error)}.`);
  }
}

/** In a fixed order. Skips names that begin with a dot, such as .git and .env. */
function pathsBelow(folder: string): readonly string[] {
  const found: string[] = [];
  const visit = (below: string, depth: number): void => {
    if (depth > givenLimits.skillDepth)
      throw new GivenFault(`its folders are deeper than ${givenLimits.skillDepth}.`);
    const entries = openFolder(join(folder, below));
    try {
      for (let entry = entries.readSync(); entry !== null; entry = entries.readSync()) {
        if (entry.name.startsWith(".")) continue;
        const path = below === "" ? entry.name : `${below}/${entry.name}`;
        if (entry.isDirectory()) visit(path, depth + 1);
        else found.push(path);
        if (found.length > givenLimits.skillFiles)
          throw new GivenFault(`it has more than ${givenLimits.skillFiles} files.`);
      }
    } finally {
      entries.closeSync();
    }
  };
  visit("", 1);
  return found.sort();
}

function openFolder(path: string): ReturnType<typeof opendirSync> {
  try {
    return opendirSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new GivenFault(code === "ENOTDIR" ? "it is no folder." : `it cannot be read: ${code}.`);
  }
}

/** Refuses pipes: opening one must not wait for its writer. */
function readBounded(path: string, most: number): Buffer {
  let handle: number;
  try {
    handle = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  } catch (error) {
    throw new GivenFault(`it cannot be read: ${(error as NodeJS.ErrnoException).code}.`);
  }
  try {
    const status = fstatSync(handle);
    if (!status.isFile()) throw new GivenFault("it is not a regular file.");
    const content = Buffer.alloc(Math.min(status.size, most) + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < content.length; length += read)
      read = readSync(handle, content, length, content.length - length, null);
    if (status.size > most || length > most)
      throw new GivenFault(`it has ${Math.max(status.size, length)} bytes; at most ${most} are read.`);
    return content.subarray(0, length);
  } finally {
    closeSync(handle);
  }
}

const frontMatter = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)(?:\r?\n)?---[ \t]*(?:\r?\n|$)/;
const skillName = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

function frontMatterOf(content: Buffer): Pick<SkillDefinition, "name" | "description"> {
  const text = decodeText(content);
  if (text === undefined) throw new GivenFault(`its ${skillFile} is not UTF-8 text.`);
  const [, written] = frontMatter.exec(text) ?? [];
  if (written === undefined)
    throw new GivenFault(
      `its ${skillFile} has no front matter: begin it with --- and name, description and --- below.`,
    );
  const { name, description } = parse(written);
  if (!isSkillName(name))
    throw new GivenFault(
      `its ${skillFile} has no usable name: letters, digits, - and _, at most 64, such as review.`,
    );
  const line = typeof description === "string" ? description.trim().replaceAll(/\s+/g, " ") : undefined;
  if (!isDescription(line))
    throw new GivenFault(
      `its ${skillFile} has no usable description: a text of at most ${givenLimits.description} characters that can be shown on one line.`,
    );
  return { name, description: line };
}

export const isSkillName = (name: unknown): name is string =>
  typeof name === "string" && skillName.test(name);

/** It must fit on one line of a prompt. */
export const isDescription = (text: unknown): text is string =>
  typeof text === "string" &&
  text !== "" &&
  text === text.trim() &&
  text.length <= givenLimits.description &&
  text.isWellFormed() &&
  !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(text);

/** All values are texts, because a name may be 2024. The package is loaded by the first skill. */
function parse(written: string): { readonly name?: unknown; readonly description?: unknown } {
  if (written.length > givenLimits.frontMatterBytes)
    throw new GivenFault(
      `the front matter of its ${skillFile} has more than ${givenLimits.frontMatterBytes} characters.`,
    );
  try {
    const yaml = createRequire(import.meta.url)("yaml") as typeof import("yaml");
    const read: unknown = yaml.parse(written, { schema: "failsafe", maxAliasCount: 0, logLevel: "error" });
    return typeof read === "object" && read !== null ? read : {};
  } catch (error) {
    const why = (error as Error).message.split("\n", 1)[0] ?? "";
    throw new GivenFault(`the front matter of its ${skillFile} is no YAML: ${why}`);
  }
}
