import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TreeChange, TreeFile } from "../../domain/tree.ts";
import type { BlobStore } from "../blobs.ts";
import type { Git } from "./git.ts";

const modeOf: Readonly<Record<TreeFile["mode"], string>> = {
  file: "100644",
  executable: "100755",
  link: "120000",
};
const gone = `0 ${"0".repeat(40)}`;

/** Writes git trees through an index of its own: the index and the files of the repository stay as they are. */
export class TreeWriter implements AsyncDisposable {
  readonly #git: Git;
  readonly #folder: string;
  readonly #blobs: Pick<BlobStore, "get">;

  private constructor(git: Git, folder: string, blobs: Pick<BlobStore, "get">) {
    this.#git = git;
    this.#folder = folder;
    this.#blobs = blobs;
  }

  /** Starts with the files of a commit or tree of the repository; without one, with none. */
  static async open(git: Git, blobs: Pick<BlobStore, "get">, from?: string): Promise<TreeWriter> {
    const writer = new TreeWriter(git, await mkdtemp(join(tmpdir(), "maestro-index-")), blobs);
    await git.run(from === undefined ? ["read-tree", "--empty"] : ["read-tree", from], { env: writer.#env });
    return writer;
  }

  get #env(): Readonly<Record<string, string>> {
    return { GIT_INDEX_FILE: join(this.#folder, "index") };
  }

  /** The hash of the tree with these changes. */
  async write(changes: readonly TreeChange[]): Promise<string> {
    const lines: string[] = [];
    for (const { path, after } of changes)
      lines.push(`${after === undefined ? gone : await this.#entry(path, after)}\t${path}\0`);
    await this.#git.run(["update-index", "-z", "--index-info"], { input: lines.join(""), env: this.#env });
    return this.#git.text(["write-tree"], { env: this.#env });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** Line ends and keywords become what the repository records; no program of it runs for that. */
  async #entry(path: string, { sha256, mode }: TreeFile): Promise<string> {
    const input = await this.#blobs.get(sha256);
    const how = mode === "link" ? "--no-filters" : `--path=${path}`;
    const oid = await this.#git.text(["hash-object", "-w", "--stdin", how], { input, env: this.#env });
    return `${modeOf[mode]} ${oid}`;
  }
}
