import { readdir, rename, stat, unlink, utimes } from "node:fs/promises";
import { join } from "node:path";
import { sha256 } from "../domain/canonical.ts";
import { ArtifactCorrupt, InputInvalid } from "../domain/errors.ts";
import type { Blobs } from "./blobs.ts";
import {
  makeDirectoryDurably,
  readBounded,
  removeTemporaries,
  syncDirectory,
  writeDurably,
} from "./durable-file.ts";
import { reach } from "./fault-points.ts";

const hashForm = /^[0-9a-f]{64}$/;
const asideSuffix = ".pruned";
const maxArtifactBytes = 64 * 1024 * 1024;
const points = { beforeRename: "artifact:before-rename", afterRename: "artifact:after-rename" } as const;

/** Blobs as files below the state directory. */
export class Artifacts implements Blobs {
  readonly #root: string;

  constructor(stateDirectory: string) {
    this.#root = join(stateDirectory, "artifacts");
  }

  async put(content: string | Uint8Array): Promise<string> {
    const bytes = Buffer.from(content);
    if (bytes.length > maxArtifactBytes)
      throw new InputInvalid(
        `An artifact of ${bytes.length} bytes is over the limit of ${maxArtifactBytes}.`,
      );
    const hash = sha256(bytes);
    if (await this.#touch(hash)) return hash;
    await makeDirectoryDurably(this.#folder(hash));
    await writeDurably(this.#path(hash), bytes, points);
    return hash;
  }

  async get(hash: string): Promise<Buffer> {
    const path = this.#path(hash);
    // `remove` sets it aside for a moment and may put it back.
    const content =
      (await readBounded(path, maxArtifactBytes)) ??
      (await readBounded(path + asideSuffix, maxArtifactBytes)) ??
      (await readBounded(path, maxArtifactBytes));
    if (content !== undefined && sha256(content) === hash) return content;
    throw new ArtifactCorrupt(`Artifact ${hash} is ${content === undefined ? "missing" : "damaged"}.`, {
      details: { sha256: hash },
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

  /** Also removes temporary files from before then. */
  async *olderThan(time: number): AsyncIterable<string> {
    for (const folder of await readdir(this.#root).catch(() => [])) {
      await removeTemporaries(join(this.#root, folder), { olderThan: time });
      const names = await readdir(join(this.#root, folder)).catch(() => []);
      // A blob that a killed prune left aside is judged as if it were in its place.
      const hashes = new Set(names.map((name) => name.replace(asideSuffix, "")).filter(isHash));
      for (const hash of hashes) {
        const changedAt = (await this.#changedAt(hash)) ?? (await this.#changedAt(hash, asideSuffix));
        if (changedAt !== undefined && changedAt < time) yield hash;
      }
    }
  }

  /**
   * Set aside before it is judged for the last time: a `put` of the same bytes either touched it before, which shows
   * here, or finds it missing and writes it anew.
   */
  async remove(hash: string, before: number, isNeeded: (hash: string) => Promise<boolean>): Promise<boolean> {
    const path = this.#path(hash);
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
    const found = await stat(this.#path(hash) + suffix).catch(ignoreMissing);
    return found?.mtimeMs;
  }

  /** So that retention cannot remove it before a row points to it. False when it has to be written. */
  async #touch(hash: string): Promise<boolean> {
    try {
      if (!(await this.has(hash))) return false;
      const now = new Date();
      await utimes(this.#path(hash), now, now);
      // The process that wrote it may have died between its rename and its sync.
      await syncDirectory(this.#folder(hash));
      return true;
    } catch {
      return false;
    }
  }

  #folder(hash: string): string {
    if (!hashForm.test(hash)) throw new InputInvalid(`"${hash}" is not the SHA-256 of an artifact.`);
    return join(this.#root, hash.slice(0, 2));
  }

  #path(hash: string): string {
    return join(this.#folder(hash), hash);
  }
}

const isHash = (name: string): boolean => hashForm.test(name);

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}
