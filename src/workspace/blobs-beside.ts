import { sha256 } from "../domain/canonical.ts";
import type { BlobStore } from "./blob-store.ts";

/** Reads from a store and keeps new content in memory, for read-only callers. */
export class BlobsBeside implements BlobStore {
  readonly #blobs: Pick<BlobStore, "get">;
  readonly #own = new Map<string, Buffer>();

  constructor(blobs: Pick<BlobStore, "get">) {
    this.#blobs = blobs;
  }

  async put(content: string | Uint8Array): Promise<string> {
    const hash = sha256(content);
    this.#own.set(hash, Buffer.from(content as Uint8Array));
    return hash;
  }

  async get(hash: string): Promise<Buffer> {
    const own = this.#own.get(hash);
    return own === undefined ? this.#blobs.get(hash) : Buffer.from(own);
  }
}
