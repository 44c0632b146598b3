import { readdir, rename, stat, unlink, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";
import { sha256 } from "../domain/canonical.ts";
import { ArtifactCorrupt, InputInvalid } from "../domain/errors.ts";
import { type BlobBatch, type Blobs, largestArtifactBytes } from "./blobs.ts";
import {
  asideSuffix,
  makeDirectoryDurably,
  type NoFile,
  readFileBounded,
  removeTemporaries,
  syncDirectory,
  writeDurably,
} from "./durable-file.ts";
import { reach } from "./fault-points.ts";
import type { Packs } from "./packs.ts";

const hashForm = /^[0-9a-f]{64}$/;
const points = { beforeRename: "artifact:before-rename", afterRename: "artifact:after-rename" } as const;

/** Blobs as files below the state directory. */
export class Artifacts implements Blobs {
  readonly #stateDirectory: string;
  readonly #root: string;
  #loading: Promise<Packs> | undefined;

  constructor(stateDirectory: string) {
    this.#stateDirectory = stateDirectory;
    this.#root = join(stateDirectory, "artifacts");
  }

  async put(content: string | Uint8Array): Promise<string> {
    const bytes = Buffer.from(content);
    if (bytes.length > largestArtifactBytes)
      throw new InputInvalid(
        `An artifact of ${bytes.length} bytes is over the limit of ${largestArtifactBytes}.`,
      );
    const hash = sha256(bytes);
    if (await this.#touch(hash)) return hash;
    await makeDirectoryDurably(this.#folder(hash), this.#stateDirectory);
    await writeDurably(this.#path(hash), bytes, points);
    return hash;
  }

  /** Loaded only if the state directory has packs. Most have none. */
  get #packs(): Promise<Packs> {
    this.#loading ??= import("./packs.ts").then(({ Packs }) => new Packs(this.#root));
    return this.#loading;
  }

  async batch(): Promise<BlobBatch> {
    const packs = await this.#packs;
    const names = new Map<string, Promise<ReadonlySet<string>>>();
    const touched = new Map<string, Promise<boolean>>();
    /** Lists each folder once: 100,000 files would otherwise need 100,000 lookups. */
    const isLoose = async (hash: string): Promise<boolean> => {
      const folder = this.#folder(hash);
      const listed =
        names.get(folder) ??
        readdir(folder).then(
          (all) => new Set(all),
          () => new Set<string>(),
        );
      names.set(folder, listed);
      return (await listed).has(hash);
    };
    return packs.begin(async (hash) => {
      const reference = (await isLoose(hash)) ? hash : (await packs.find(hash, { again: false }))?.pack.id;
      if (reference === undefined) return undefined;
      const touching = touched.get(reference) ?? this.#touch(reference);
      touched.set(reference, touching);
      return (await touching) ? reference : undefined;
    });
  }

  async get(hash: string): Promise<Buffer> {
    const path = this.#path(hash);
    let found: Buffer | NoFile = await readFileBounded(path, largestArtifactBytes);
    if (found === "missing") found = (await (await this.#packs).read(hash)) ?? "missing";
    // `remove` moves it aside for a moment and may restore it.
    for (const place of [path + asideSuffix, path])
      if (found === "missing") found = await readFileBounded(place, largestArtifactBytes);
    if (typeof found !== "string" && sha256(found) === hash) return found;
    const problem = typeof found === "string" ? found : "damaged: its content has changed";
    throw new ArtifactCorrupt(`Artifact ${hash} is ${problem}.`, {
      details: { sha256: hash, problem },
      advice: "Restore the artifacts folder from a backup, or fork the session at the phase that made it.",
    });
  }

  async has(hash: string): Promise<boolean> {
    return this.get(hash).then(
      () => true,
      (error: unknown) => {
        if (ArtifactCorrupt.is(error)) return false;
        throw error;
      },
    );
  }

  /** Also removes temporary files older than this time. */
  async *olderThan(time: number): AsyncIterable<string> {
    for (const folder of await readdir(this.#root).catch(() => [])) {
      await removeTemporaries(join(this.#root, folder), { olderThan: time });
      const names = await readdir(join(this.#root, folder)).catch(() => []);
      // A blob that a killed prune left aside is treated as if it were in its place.
      const hashes = new Set(names.map((name) => name.replace(asideSuffix, "")).filter(isHash));
      for (const hash of hashes) {
        const changedAt = (await this.#changedAt(hash)) ?? (await this.#changedAt(hash, asideSuffix));
        if (changedAt !== undefined && changedAt < time) yield hash;
      }
    }
    const packs = await this.#packs;
    await removeTemporaries(packs.folder, { olderThan: time });
    for (const id of await packs.ids()) {
      const changedAt = await this.#changedAt(id);
      if (changedAt !== undefined && changedAt < time) yield id;
    }
  }

  /**
   * The blob is moved aside before the last check: a `put` of the same bytes either touched it earlier, which shows
   * here, or finds it missing and writes it again.
   */
  async remove(hash: string, before: number, isNeeded: (hash: string) => Promise<boolean>): Promise<boolean> {
    const path = await this.#file(hash);
    await rename(path, path + asideSuffix).catch(ignoreMissing);
    reach?.("artifact.aside:after-rename");
    const changedAt = await this.#changedAt(hash, asideSuffix);
    if (changedAt === undefined) return false;
    if (changedAt >= before || (await isNeeded(hash))) {
      await rename(path + asideSuffix, path);
      return false;
    }
    reach?.("artifact.aside:before-remove");
    await unlink(path + asideSuffix);
    return true;
  }

  async #changedAt(hash: string, suffix = ""): Promise<number | undefined> {
    const found = await stat((await this.#file(hash)) + suffix).catch(ignoreMissing);
    return found?.mtimeMs;
  }

  /** Keeps retention from removing the blob before a row references it. False if it must be written. */
  async #touch(hash: string): Promise<boolean> {
    try {
      if (!(await this.has(hash))) return false;
      const now = new Date();
      const path = await this.#file(hash);
      await utimes(path, now, now);
      // The process that wrote it may have died between its rename and its sync.
      await syncDirectory(dirname(path));
      return true;
    } catch {
      return false;
    }
  }

  #folder(hash: string): string {
    if (!hashForm.test(hash)) throw new InputInvalid(`"${hash}" is not the SHA-256 of an artifact.`);
    return join(this.#root, hash.slice(0, 2));
  }

  /** A pack is named by the hash of its index. Any other blob has a file of its own. */
  async #file(hash: string): Promise<string> {
    const packs = await this.#packs;
    return (await packs.hasPack(hash)) ? packs.pathOf(hash) : this.#path(hash);
  }

  #path(hash: string): string {
    return join(this.#folder(hash), hash);
  }
}

const isHash = (name: string): boolean => hashForm.test(name);

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}
