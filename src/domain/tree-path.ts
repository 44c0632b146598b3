import { InputInvalid } from "./errors.ts";

/** Limits of additions by personas. They come from models and commands, so everything is bounded. */
export const treeLimits = {
  maxFiles: 10_000,
  maxFileBytes: 8 * 1024 * 1024,
  maxTreeBytes: 256 * 1024 * 1024,
  maxPathBytes: 1024,
  maxNameBytes: 255,
  maxDepth: 32,
} as const;

/** Limits of a session's initial files, such as those of a repository. */
export const baseLimits = {
  maxFiles: 200_000,
  /** The maximum size of an artifact. */
  maxFileBytes: 64 * 1024 * 1024,
  maxTreeBytes: 4 * 1024 * 1024 * 1024,
} as const;

/**
 * The path as trees store it (Unicode form NFC), or an error that says what to write instead. Strict enough that a
 * tree can be written to a disk of any common system without leaving its folder or touching files of version
 * control.
 */
export function checkPath(path: string): string {
  if (typeof path !== "string") throw new InputInvalid(`A path is a text, and this is a ${typeof path}.`);
  // Normalizing shortens to a third at most, so this refuses no valid path and never normalizes a huge one.
  if (path.length > 4 * treeLimits.maxPathBytes) throw tooLong(path);
  if (!path.isWellFormed())
    throw refused(path, "holds half of a character", "Write the path as valid Unicode.");
  const normal = path.normalize("NFC");
  checkBeginning(normal);
  if (Buffer.byteLength(normal) > treeLimits.maxPathBytes) throw tooLong(path);
  const names = normal.split("/");
  if (names.length > treeLimits.maxDepth) {
    throw refused(path, `is deeper than ${treeLimits.maxDepth} names`, "Use fewer folders.");
  }
  for (const name of names) checkName(name, normal);
  return normal;
}

/**
 * A path of a session's initial files. They exist on a disk, so only paths that could leave the folder, belong to
 * version control or deceive a reader are refused. Names that another system reserves are kept.
 */
export function checkBasePath(path: string): string {
  const names = path.split("/");
  const isSafe = names.every((name) => name !== "" && name !== "." && name !== ".." && !isOwned(name));
  if (!isSafe) throw refused(path, "cannot be in a workspace", "Leave it out.");
  if (!path.isWellFormed() || (!plain.test(path) && holdsForbidden(path)))
    throw refused(path, "holds a control or invisible character", "Rename the file, or leave it out.");
  const isLong = names.some((name) => Buffer.byteLength(name) > treeLimits.maxNameBytes);
  if (isLong || Buffer.byteLength(path) > 4 * treeLimits.maxPathBytes) throw tooLong(path);
  return path;
}

/** Equal for paths that some disk treats as the same, ignoring case, Unicode form and invisible characters. */
export function foldPath(path: string): string {
  if (plain.test(path)) return path.toLowerCase();
  const visible = withoutInvisible(path.normalize("NFD"));
  // Upper case first, because several small letters share a capital: "ſ" and "s", "ß" and "ss".
  return visible.toUpperCase().toLowerCase().normalize("NFC");
}

/** The target path of a relative link; undefined if it is outside. */
export function linkedPath(link: string, target: string): string | undefined {
  if (target === "" || target.startsWith("/") || target.includes("\0")) return undefined;
  const names = link.split("/").slice(0, -1);
  for (const name of target.split("/")) {
    if (name === "..") {
      if (names.pop() === undefined) return undefined;
    } else if (name !== "" && name !== ".") names.push(name);
  }
  return names.join("/");
}

/** True for files of packages installed for checks and tools, which are not a persona's work and never delivered. */
export const isInstalled = (path: string): boolean => installedPath.test(path);
/** Case does not matter, because some disks treat `Node_Modules` as the same folder. */
const installedPath = /(?:^|\/)node_modules\//i;

/** A path for messages: quoted, cut, and without characters that a terminal would interpret or hide. */
export function showPath(path: string): string {
  const cut = path.length > 160 ? `${path.slice(0, 120)}…${path.slice(-30)}` : path;
  const escaped = (character: string) => `\\u{${character.codePointAt(0)?.toString(16)}}`;
  return JSON.stringify(cut).replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu, escaped);
}

const plain = /^[ -~]*$/;
// Patterns with Unicode properties are inside functions, because compiling one takes half a millisecond and most
// paths are ASCII.
const withoutInvisible = (text: string): string => text.replace(/\p{Default_Ignorable_Code_Point}/gu, "");
/** Joiners and variation selectors are part of text and emoji. Other invisible characters only deceive. */
const holdsForbidden = (name: string): boolean =>
  /(?![\u200c\u200d\p{Variation_Selector}])[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u.test(name);
/** Includes the short names that Windows generates for them. */
const owned = /^(?:\.git|git~\d+|\.maestro|maestr~\d+)$/;
const device = /^(?:con|prn|aux|nul|conin\$|conout\$|clock\$|(?:com|lpt)[0-9¹²³])$/;

function checkBeginning(path: string): void {
  if (path === "") throw refused(path, "is empty", "Name a file, such as src/main.ts.");
  if (path.startsWith("/")) {
    const relative = path.replace(/^\/+/, "");
    throw refused(
      path,
      "is absolute",
      `Paths start at the root of the workspace: write ${showPath(relative)}.`,
    );
  }
  if (/^[A-Za-z]:/.test(path)) {
    throw refused(path, "starts with a drive letter", "Paths start at the root of the workspace.");
  }
  if (path === "~" || path.startsWith("~/")) {
    throw refused(path, "starts at a home folder", "Paths start at the root of the workspace.");
  }
  if (path.includes("\\")) throw refused(path, "holds a backslash", 'Write "/" between names.');
}

function checkName(name: string, path: string): void {
  if (name === "")
    throw refused(path, "has an empty name", 'Write one "/" between names and none at the end.');
  if (name === ".") throw refused(path, 'has a name "."', `Write ${showPath(withoutDots(path))}.`);
  if (name === "..") {
    throw refused(
      path,
      'has a name ".."',
      "Write the path from the root of the workspace; nothing outside it exists.",
    );
  }
  if (!plain.test(name) && (holdsForbidden(name) || withoutInvisible(name) === "")) {
    throw refused(path, "holds a control or invisible character", "Use characters that can be seen.");
  }
  if (/[. ]$/.test(name)) {
    throw refused(path, "has a name that ends in a dot or a space", "End the name in another character.");
  }
  if (Buffer.byteLength(name) > treeLimits.maxNameBytes) {
    throw refused(path, `has a name over ${treeLimits.maxNameBytes} bytes`, "Use a shorter name.");
  }
  checkReserved(name, path);
}

function checkReserved(name: string, path: string): void {
  const folded = foldPath(name);
  if (isOwned(name)) {
    throw refused(path, "belongs to version control or to Maestro", "Keep out of .git and .maestro folders.");
  }
  if (device.test(untilFirst(folded, ".", ":"))) {
    throw refused(path, "has a name that Windows reserves for a device", "Use another name.");
  }
}

/** On Windows, a colon names a stream of the same file. */
const isOwned = (name: string): boolean => owned.test(untilFirst(foldPath(name), ":"));

function untilFirst(name: string, ...ends: readonly string[]): string {
  const places = ends.map((end) => name.indexOf(end, 1)).filter((place) => place !== -1);
  return name.slice(0, Math.min(name.length, ...places)).replace(/[. ]+$/, "");
}

const withoutDots = (path: string): string =>
  path
    .split("/")
    .filter((name) => name !== ".")
    .join("/");

const tooLong = (path: string): InputInvalid =>
  refused(path, `is longer than ${treeLimits.maxPathBytes} bytes`, "Use a shorter path.");

const refused = (path: string, why: string, advice: string): InputInvalid =>
  new InputInvalid(`The path ${showPath(path)} ${why}.`, { advice, details: { path: path.slice(0, 2000) } });
