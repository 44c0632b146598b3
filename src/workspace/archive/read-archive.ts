import { open } from "node:fs/promises";
import { InputInvalid } from "../../domain/errors.ts";
import { baseTree, type FileMode, type LayeredTree, PathIndex, type TreeFile } from "../../domain/tree.ts";
import { baseLimits, checkBasePath, linkedPath, showPath } from "../../domain/tree-path.ts";
import type { BlobBatch } from "../../store/blobs.ts";
import type { LeftOut } from "../repository/list-files.ts";
import { secretByContent, secretByName } from "../repository/secret-files.ts";
import type { ArchiveFormat } from "./archive-entry.ts";
import { readTarGz } from "./read-tar.ts";
import { readZip } from "./read-zip.ts";
import { archiveLimits, type Packed, refuseArchive } from "./refuse-archive.ts";

export interface ArchiveFiles {
  readonly format: ArchiveFormat;
  readonly tree: LayeredTree;
  readonly leftOut: readonly LeftOut[];
}

/** Folders that are never a session's work. Each is listed once, however many files it has. */
const wholeFolders: Readonly<Record<string, string>> = {
  ".git": "it belongs to version control",
  ".maestro": "it belongs to Maestro",
  node_modules: "it holds installed packages",
};

/**
 * Reads the files of an archive as the base of a session. Writes only blobs of the batch. Refuses the whole archive if
 * an entry could leave the folder or hide behind another. Files that personas may not see are left out and listed.
 */
export async function readArchive(path: string, batch: BlobBatch): Promise<ArchiveFiles> {
  const format = await formatOf(path);
  const intake = new ArchiveIntake(batch);
  for await (const entry of format === "zip" ? readZip(path) : readTarGz(path)) await intake.take(entry);
  if (intake.files.size === 0)
    throw refuseArchive("it has no file that a session can use", "Pack the files of your project.");
  return { format, tree: baseTree(intake.files), leftOut: intake.leftOut };
}

/** Detected from its first bytes, regardless of what the caller says. */
async function formatOf(path: string): Promise<ArchiveFormat> {
  const file = await open(path, "r");
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0);
    const begins = buffer.subarray(0, bytesRead).toString("latin1");
    if (begins.startsWith("\x1f\x8b")) return "tar.gz";
    if (begins === "PK\x03\x04" || begins === "PK\x05\x06") return "zip";
  } finally {
    await file.close();
  }
  throw refuseArchive("it is neither a tar.gz nor a zip", "Make it with: tar czf files.tar.gz .");
}

class ArchiveIntake {
  readonly files = new Map<string, TreeFile>();
  readonly #batch: BlobBatch;
  readonly #index = new PathIndex();
  readonly #leftOut = new Map<string, string>();
  #bytes = 0;

  constructor(batch: BlobBatch) {
    this.#batch = batch;
  }

  get leftOut(): readonly LeftOut[] {
    return [...this.#leftOut]
      .map(([path, reason]) => ({ path, reason }))
      .sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  async take(entry: Packed): Promise<void> {
    const { path, isUtf8 } = pathOf(entry.name);
    if (entry.kind === "folder" || path === "") return;
    const whole = wholeFolderOf(path);
    if (whole !== undefined) return void this.#leftOut.set(whole.path, whole.reason);
    if (!isUtf8) return void this.#leftOut.set(path, "its name is not UTF-8");
    const impossible = whyImpossible(path);
    if (impossible !== undefined) return void this.#leftOut.set(path, impossible);
    this.#claim(path);
    const secret = secretByName(path);
    if (secret !== undefined) return void this.#leftOut.set(path, secret);
    if (entry.kind === "link" && !staysInside(path, entry.target))
      return void this.#leftOut.set(path, "it is a link that leads out of the archive");
    if (entry.kind === "link") return this.#add(path, entry.target, "link");
    const { content, isExecutable } = entry;
    const reason =
      content === undefined ? `it has more than ${baseLimits.maxFileBytes} bytes` : secretByContent(content);
    if (content === undefined || reason !== undefined)
      return void this.#leftOut.set(path, reason ?? "it is too large");
    await this.#add(path, content, isExecutable ? "executable" : "file");
  }

  /** Also for a file that is left out, because a repeated name is never an accident. */
  #claim(path: string): void {
    const clash = this.#index.clash(path);
    const isTwice = this.files.has(path) || this.#leftOut.has(path);
    if (isTwice) throw refuseArchive(`${showPath(path)} is in it twice`);
    if (clash?.kind === "case")
      throw refuseArchive(
        `${showPath(path)} differs from ${showPath(clash.other)} only in case or Unicode form`,
        "Rename one of them.",
      );
    if (clash !== undefined)
      throw refuseArchive(`${showPath(clash.other)} is a file or link in it, and also a folder`);
    this.#index.add(path);
  }

  async #add(path: string, content: Buffer, mode: FileMode): Promise<void> {
    this.#bytes += content.length;
    if (this.files.size === baseLimits.maxFiles || this.#bytes > baseLimits.maxTreeBytes)
      throw refuseArchive(
        `it has more than ${baseLimits.maxFiles} files or ${baseLimits.maxTreeBytes} bytes`,
      );
    this.files.set(path, { sha256: await this.#batch.add(content), bytes: content.length, mode });
  }
}

function staysInside(path: string, target: Buffer): boolean {
  const text = target.toString();
  return Buffer.from(text).equals(target) && linkedPath(path, text) !== undefined;
}

/**
 * The path without a leading `./` and without empty names. Refuses the archive if the name could lead anywhere else.
 */
function pathOf(name: Buffer): { readonly path: string; readonly isUtf8: boolean } {
  if (name.length > archiveLimits.maxNameBytes) throw refuseArchive("a name in it is too long");
  const text = name.toString();
  if (text.includes("\0")) throw refuseArchive(`the name ${showPath(text)} holds a zero byte`);
  if (/^(?:\/|[A-Za-z]:[\\/])/.test(text)) throw refuseArchive(`the path ${showPath(text)} is absolute`);
  const names = text.split("/").filter((each) => each !== "" && each !== ".");
  if (names.some((each) => each === ".." || each.split("\\").includes("..")))
    throw refuseArchive(`the path ${showPath(text)} leads out of it`);
  return { path: names.join("/"), isUtf8: Buffer.from(text).equals(name) };
}

function wholeFolderOf(path: string): LeftOut | undefined {
  const names = path.split("/");
  // Case does not matter, because some disks treat `.GIT` as the same folder.
  const at = names.findIndex((name) => Object.hasOwn(wholeFolders, name.toLowerCase()));
  if (at === -1) return undefined;
  return {
    path: names.slice(0, at + 1).join("/"),
    reason: wholeFolders[names[at]?.toLowerCase() ?? ""] ?? "",
  };
}

function whyImpossible(path: string): string | undefined {
  try {
    checkBasePath(path);
    return undefined;
  } catch (error) {
    if (InputInvalid.is(error)) return "its name cannot be in a workspace";
    throw error;
  }
}
