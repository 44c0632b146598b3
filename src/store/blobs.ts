export const largestArtifactBytes = 64 * 1024 * 1024;

/** Content by its SHA-256. Equal bytes are stored once, and every read verifies the hash. */
export interface Blobs {
  /** Durable when it returns, so that a journal row may reference it. */
  put(content: string | Uint8Array): Promise<string>;
  /** Writes many blobs, such as the files of a repository. `commit` makes them durable together. */
  batch(): Promise<BlobBatch>;
  /** Throws ArtifactCorrupt if it is missing or damaged. */
  get(hash: string): Promise<Buffer>;
  /** True if `get` would return it. */
  has(hash: string): Promise<boolean>;
  /** Blobs that were last put before this time. */
  olderThan(time: number): AsyncIterable<string>;
  /**
   * Removes a blob unless it was put again since `before` or is needed. True if it was removed. A concurrent `put`
   * of the same bytes either keeps the blob or stores it again.
   */
  remove(hash: string, before: number, isNeeded: (hash: string) => Promise<boolean>): Promise<boolean>;
}

export interface BlobBatch extends AsyncDisposable {
  /** Returns the hash of the content, which stays in memory only during the call. */
  add(content: Buffer): Promise<string>;
  /** Returns the hashes that a journal row must reference, so that retention keeps the batch. */
  commit(): Promise<readonly string[]>;
}
