import { sha256 } from "../../../src/domain/canonical.ts";
import { ArtifactCorrupt } from "../../../src/domain/errors.ts";
import type { Tree, TreeFile } from "../../../src/domain/tree.ts";
import type { BlobStore } from "../../../src/workspace/workspace.ts";

/** A store of blobs that counts, for what needs no disk. */
export class MemoryBlobs implements BlobStore {
  readonly stored = new Map<string, Buffer>();
  puts = 0;
  gets = 0;

  async put(content: string | Uint8Array): Promise<string> {
    this.puts += 1;
    const bytes = Buffer.from(content);
    const hash = sha256(bytes);
    this.stored.set(hash, bytes);
    return hash;
  }

  async get(hash: string): Promise<Buffer> {
    this.gets += 1;
    const content = this.stored.get(hash);
    if (content === undefined) throw new ArtifactCorrupt(`Artifact ${hash} is missing.`);
    return Buffer.from(content);
  }

  /** A tree of these texts, stored. A path that ends in "!" is executable. */
  tree(files: Readonly<Record<string, string | Uint8Array>>): Tree {
    const tree = new Map<string, TreeFile>();
    for (const [name, content] of Object.entries(files)) {
      const bytes = Buffer.from(content);
      const hash = sha256(bytes);
      this.stored.set(hash, bytes);
      tree.set(name.replace(/!$/, ""), {
        sha256: hash,
        bytes: bytes.length,
        mode: name.endsWith("!") ? "executable" : "file",
      });
    }
    return tree;
  }

  /** The files of a tree, with "!" after the names of executables. */
  texts(tree: Tree): Record<string, string> {
    return Object.fromEntries(
      [...tree]
        .map(([path, { sha256: hash, mode }]) => [
          mode === "executable" ? `${path}!` : path,
          this.stored.get(hash)?.toString() ?? "(not stored)",
        ])
        .sort(([a = ""], [b = ""]) => (a < b ? -1 : 1)),
    );
  }
}
