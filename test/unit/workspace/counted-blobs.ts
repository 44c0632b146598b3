import { sha256 } from "../../../src/domain/canonical.ts";
import type { Tree, TreeFile } from "../../../src/domain/tree.ts";
import type { BlobStore } from "../../../src/workspace/blobs.ts";

/** Blobs in memory, which remembers what was put. */
export class MemoryBlobs implements BlobStore {
  readonly contents = new Map<string, Buffer>();
  readonly puts: string[] = [];

  put(content: string | Uint8Array): Promise<string> {
    const bytes = Buffer.from(content);
    const hash = sha256(bytes);
    this.contents.set(hash, bytes);
    this.puts.push(hash);
    return Promise.resolve(hash);
  }

  get(hash: string): Promise<Buffer> {
    const found = this.contents.get(hash);
    return found === undefined
      ? Promise.reject(new Error(`no blob ${hash}`))
      : Promise.resolve(Buffer.from(found));
  }

  /** A path with a "*" at its end is executable. */
  tree(files: Readonly<Record<string, string | Buffer>>): Tree {
    return new Map(
      Object.entries(files).map(([path, content]) => [path.replace(/\*$/, ""), this.#file(path, content)]),
    );
  }

  #file(path: string, content: string | Buffer): TreeFile {
    const bytes = Buffer.from(content);
    this.contents.set(sha256(bytes), bytes);
    return { sha256: sha256(bytes), bytes: bytes.length, mode: path.endsWith("*") ? "executable" : "file" };
  }

  /** The files of the tree, as text by path. */
  read(tree: Tree): Record<string, string> {
    return Object.fromEntries(
      [...tree].map(([path, { sha256 }]) => [path, this.contents.get(sha256)?.toString() ?? "?"]),
    );
  }
}
