import { readdir, rename, stat, unlink, utimes } from "node:fs/promises";
import { join } from "node:path";
import { sha256 } from "../domain/canonical.ts";
import { ArtifactCorrupt, InputInvalid } from "../domain/errors.ts";
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

/** Files by the hash of their content: the same bytes are stored once, and what is read is proved to be what was written. */
export class Artifacts {
  readonly #root: string;

  constructor(stateDirectory: string) {
    this.#root = join(stateDirectory, "artifacts");
  }

  /** Durable when it returns, so a journal row may point to it. */
  async put(content: string | Uint8Array): Promise<string> {
    const bytes = Buffer.from(content);
    if (bytes.length > maxArtifactBytes)
      throw new InputInvalid(
        `An artifact of ${bytes.length} bytes is over the limit of ${maxArtifactBytes}.`,
      );
    const hash = sha256(bytes);
    if (await this.#isThere(hash)) return hash;
    await makeDirectoryDurably(this.#folder(hash));
    await writeDurably(this.#path(hash), bytes, points);
    return hash;
  }

  async get(hash: string): Promise<Buffer> {
    const path = this.#path(hash);
    // For a moment it may lie aside, see `removeUnless`, and be back the next.
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

  /** Artifacts that nobody has stored or stored again since then; temporary files from before then are removed. */
  async *olderThan(time: number): AsyncIterable<string> {
    for (const folder of await readdir(this.#root).catch(() => [])) {
      await removeTemporaries(join(this.#root, folder), { olderThan: time });
      const names = await readdir(join(this.#root, folder)).catch(() => []);
      // What a killed prune left aside is judged again as if it were in its place.
      const hashes = new Set(names.map((name) => name.replace(asideSuffix, "")).filter(isHash));
      for (const hash of hashes) {
        const changedAt = (await this.#changedAt(hash)) ?? (await this.#changedAt(hash, asideSuffix));
        if (changedAt !== undefined && changedAt < time) yield hash;
      }
    }
  }

  /**
   * Whether it is gone. Set aside before it is judged for the last time: whoever stores the same bytes either touched
   * it before, which shows here, or finds it missing and writes it anew.
   */
  async removeUnless(
    hash: string,
    olderThan: number,
    isNeeded: (hash: string) => Promise<boolean>,
  ): Promise<boolean> {
    const path = this.#path(hash);
    await rename(path, path + asideSuffix).catch(ignoreMissing);
    reach?.("artifact.aside:after-rename");
    const changedAt = await this.#changedAt(hash, asideSuffix);
    if (changedAt === undefined) return false;
    if (changedAt >= olderThan || (await isNeeded(hash))) {
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

  /** Touched as well, so that retention cannot take it between now and the row that will point to it. */
  async #isThere(hash: string): Promise<boolean> {
    try {
      await this.get(hash);
      const now = new Date();
      await utimes(this.#path(hash), now, now);
      // Whoever wrote it may be between its rename and this, or have died there.
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
