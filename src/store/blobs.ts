/** Content by its SHA-256: the same bytes are stored once, and a read proves that they are the bytes that were written. */
export interface Blobs {
  /** Durable when it returns, so a journal row may point to it. */
  put(content: string | Uint8Array): Promise<string>;
  /** For many blobs at once, such as the files of a repository: durable together, with `commit`. */
  batch(): Promise<BlobBatch>;
  /** ArtifactCorrupt when it is missing or damaged. */
  get(hash: string): Promise<Buffer>;
  /** True when `get` would return it. */
  has(hash: string): Promise<boolean>;
  /** Blobs that were last put before this time. */
  olderThan(time: number): AsyncIterable<string>;
  /**
   * Removes a blob unless it was put again since `before` or is needed; true when it is gone. A concurrent `put` of the
   * same bytes either keeps the blob or stores it again.
   */
  remove(hash: string, before: number, isNeeded: (hash: string) => Promise<boolean>): Promise<boolean>;
}

export interface BlobBatch extends AsyncDisposable {
  /** The hash of the content; it is held in memory only during the call. */
  add(content: Buffer): Promise<string>;
  /** The hashes that a journal row must point to, so that retention keeps every blob of the batch. */
  commit(): Promise<readonly string[]>;
}
