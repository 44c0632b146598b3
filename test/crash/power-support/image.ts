import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type FileNumber, type Operation, type Recording, rootFolder } from "./operation.ts";

/**
 * The fate of operations that were not synced when the power was cut. `nothing` of them reached the disk; `all` did;
 * `a beginning`: those before some moment, as a journaling file system keeps the order; `some`: each on its own, so that
 * later ones may be there without earlier ones. A write may also be torn: a disk writes sectors.
 */
export const remains = ["nothing", "some", "a beginning", "all"] as const;
export type Remains = (typeof remains)[number];

const sectorBytes = 512;

/** Writes the disk as it may be found after a power cut right after `cut` operations. */
export function writeImage(
  { operations, folders }: Recording,
  cut: number,
  remains: Remains,
  random: () => number,
  target: string,
): void {
  const happened = operations.slice(0, cut);
  const synced = syncedUpTo(happened);
  const pending = happened.filter((each, index) => isPending(each, index, synced)).length;
  const kept = keeper(remains, pending, random);
  const files = new Map<FileNumber, Content>();
  const names = new Map<FileNumber, Map<string, FileNumber>>();
  for (const [index, operation] of happened.entries()) {
    if (!changes(operation)) continue;
    const share = isPending(operation, index, synced) ? kept() : "whole";
    if (share === "none") continue;
    if (operation.kind === "name") {
      const entries = names.get(operation.folder) ?? new Map<string, FileNumber>();
      names.set(operation.folder, entries);
      for (const { name, file } of operation.changes) {
        if (file === undefined) entries.delete(name);
        else entries.set(name, file);
      }
      continue;
    }
    const content = files.get(operation.file) ?? new Content();
    files.set(operation.file, content);
    if (operation.kind === "truncate") content.truncate(operation.size);
    else if (share === "whole") content.write(operation.at, operation.bytes);
    else content.tear(operation.at, operation.bytes, random);
  }
  const write = (folder: FileNumber, path: string): void => {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    for (const [name, file] of names.get(folder) ?? []) {
      if (folders.has(file)) write(file, join(path, name));
      else writeFileSync(join(path, name), files.get(file)?.bytes ?? "", { mode: 0o600 });
    }
  };
  write(rootFolder, target);
}

type Change = Exclude<Operation, { readonly kind: "sync" | "acknowledge" }>;

const changes = (operation: Operation): operation is Change =>
  operation.kind !== "sync" && operation.kind !== "acknowledge";

/** For each file and folder: operations before this number are on the disk. */
function syncedUpTo(happened: readonly Operation[]): ReadonlyMap<FileNumber, number> {
  const synced = new Map<FileNumber, number>();
  for (const operation of happened)
    if (operation.kind === "sync")
      synced.set(operation.file, Math.max(operation.covers, synced.get(operation.file) ?? 0));
  return synced;
}

function isPending(operation: Operation, index: number, synced: ReadonlyMap<FileNumber, number>): boolean {
  if (!changes(operation)) return false;
  const file = operation.kind === "name" ? operation.folder : operation.file;
  return index >= (synced.get(file) ?? 0);
}

type Share = "none" | "torn" | "whole";

/** Decides about one pending operation after the other. */
function keeper(remains: Remains, pending: number, random: () => number): () => Share {
  if (remains === "nothing") return () => "none";
  if (remains === "all") return () => "whole";
  if (remains === "some")
    return () => (["none", "torn", "whole"] as const)[Math.floor(random() * 3)] ?? "none";
  let left = Math.floor(random() * (pending + 1));
  return () => {
    left -= 1;
    return left > 0 ? "whole" : left === 0 ? "torn" : "none";
  };
}

/** The bytes of one file. What was never written is zero. */
class Content {
  #bytes = Buffer.alloc(0);
  #size = 0;

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#size);
  }

  write(at: number, bytes: Buffer): void {
    this.#grow(at + bytes.length);
    bytes.copy(this.#bytes, at);
  }

  /** Each sector is the old or the new one. */
  tear(at: number, bytes: Buffer, random: () => number): void {
    for (let from = 0; from < bytes.length; ) {
      const upTo = Math.min(bytes.length, from + sectorBytes - ((at + from) % sectorBytes));
      if (random() < 0.5) this.write(at + from, bytes.subarray(from, upTo));
      from = upTo;
    }
  }

  truncate(size: number): void {
    this.#grow(size);
    this.#bytes.fill(0, size);
    this.#size = size;
  }

  #grow(size: number): void {
    if (size > this.#bytes.length) {
      const larger = Buffer.alloc(Math.max(size, 2 * this.#bytes.length));
      this.#bytes.copy(larger);
      this.#bytes = larger;
    }
    this.#size = Math.max(this.#size, size);
  }
}
