import { sha256 } from "../domain/canonical.ts";

/** Stores bytes of files by their hash. The artifact store is one. */
export interface BlobStore {
  /** Durable when it returns. */
  put(content: string | Uint8Array): Promise<string>;
  get(sha256: string): Promise<Buffer>;
}

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

const maxFreshBytes = 32 * 1024 * 1024;
const putsAtOnce = 8;

/** Content that no journal row references yet. Kept in memory until it must be durable or memory is short. */
export class FreshBlobs {
  readonly #blobs: BlobStore;
  readonly #fresh = new Map<string, Buffer>();
  /** Stored only for lack of memory. Nothing references it, so retention may remove it before it is flushed. */
  readonly #spilled = new Set<string>();
  #bytes = 0;

  constructor(blobs: BlobStore) {
    this.#blobs = blobs;
  }

  /** Waits only if memory is short. */
  async add(sha256: string, content: Buffer): Promise<void> {
    if (this.#fresh.has(sha256)) return;
    this.#fresh.set(sha256, content);
    this.#bytes += content.length;
    if (this.#bytes > maxFreshBytes) await this.#spill();
  }

  async get(sha256: string): Promise<Buffer> {
    const fresh = this.#fresh.get(sha256);
    // Return a copy, because the caller may change it.
    return fresh === undefined ? this.#blobs.get(sha256) : Buffer.from(fresh);
  }

  /** Durable when it returns, so that a journal row may reference them. */
  async flush(hashes: readonly string[]): Promise<void> {
    const waiting = hashes.filter((sha256) => this.#fresh.has(sha256) || this.#spilled.has(sha256));
    await inTurns(waiting, async (sha256) => {
      // Storing spilled content again protects it from retention.
      await this.#blobs.put(await this.get(sha256));
      this.#drop(sha256);
      this.#spilled.delete(sha256);
    });
  }

  async #spill(): Promise<void> {
    await inTurns([...this.#fresh], async ([sha256, content]) => {
      await this.#blobs.put(content);
      this.#spilled.add(sha256);
      this.#drop(sha256);
    });
  }

  #drop(sha256: string): void {
    const content = this.#fresh.get(sha256);
    if (content !== undefined) this.#bytes -= content.length;
    this.#fresh.delete(sha256);
  }
}

async function inTurns<T>(items: readonly T[], action: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values();
  const worker = async () => {
    for (const item of queue) await action(item);
  };
  await Promise.all(Array.from({ length: Math.min(putsAtOnce, items.length) }, worker));
}
