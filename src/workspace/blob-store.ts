/** Where the bytes of files are, by their hash; the artifact store is one. */
export interface BlobStore {
  /** Durable when it returns. */
  put(content: string | Uint8Array): Promise<string>;
  get(sha256: string): Promise<Buffer>;
}
