import { readdir, stat, unlink, utimes } from "node:fs/promises";
import { join } from "node:path";
import { sha256 } from "../domain/canonical.ts";
import { ArtifactCorrupt, InputInvalid } from "../domain/errors.ts";
import { makeDirectoryDurably, readBounded, removeTemporaries, writeDurably } from "./durable-file.ts";

const hashForm = /^[0-9a-f]{64}$/;
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
    const content = await readBounded(this.#path(hash), maxArtifactBytes);
    if (content !== undefined && sha256(content) === hash) return content;
    throw new ArtifactCorrupt(`Artifact ${hash} is ${content === undefined ? "missing" : "damaged"}.`, {
      details: { sha256: hash },
      advice: "Restore the artifacts folder from a backup, or fork the session at the phase that made it.",
    });
  }

  /** Artifacts that nobody has stored or stored again since then. */
  async *olderThan(time: number): AsyncIterable<string> {
    for (const folder of await readdir(this.#root).catch(() => [])) {
      await removeStaleTemporaries(join(this.#root, folder), time);
      for (const hash of await readdir(join(this.#root, folder))) {
        if (!hashForm.test(hash)) continue;
        const { mtimeMs } = await stat(this.#path(hash));
        if (mtimeMs < time) yield hash;
      }
    }
  }

  async remove(hash: string): Promise<void> {
    await unlink(this.#path(hash));
  }

  /** Touched as well, so that retention cannot take it between now and the row that will point to it. */
  async #isThere(hash: string): Promise<boolean> {
    try {
      await this.get(hash);
      const now = new Date();
      await utimes(this.#path(hash), now, now);
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

/** Several processes store artifacts at once, so only what is surely abandoned goes. */
async function removeStaleTemporaries(folder: string, time: number): Promise<void> {
  const { mtimeMs } = await stat(folder);
  if (mtimeMs < time) await removeTemporaries(folder);
}
