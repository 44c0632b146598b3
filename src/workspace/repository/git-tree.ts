import { mkdir, mkdtemp, rm } from "node:fs/promises";
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

/** How content is converted for git. */
export interface Recording {
  /** The commit or tree to start with. */
  readonly from: string;
  /** `core.autocrlf` when the session began. */
  readonly autocrlf: "true" | "input" | "false";
}

/**
 * Writes git trees through a separate index: the repository's index and files are neither changed nor used.
 * Attributes come from the tree itself, never from the checked-out files.
 */
export class TreeWriter implements AsyncDisposable {
  readonly #git: Git;
  readonly #env: Readonly<Record<string, string>>;
  readonly #folder: string;
  readonly #blobs: Pick<BlobStore, "get">;
  readonly #isConverting: boolean;

  private constructor(
    git: Git,
    folder: string,
    gitFolder: string,
    blobs: Pick<BlobStore, "get">,
    isConverting: boolean,
  ) {
    this.#git = git;
    this.#folder = folder;
    this.#blobs = blobs;
    this.#isConverting = isConverting;
    this.#env = {
      GIT_DIR: gitFolder,
      GIT_WORK_TREE: join(folder, attributesFolder),
      GIT_INDEX_FILE: join(folder, "index"),
      GIT_ATTR_NOSYSTEM: "1",
    };
  }

  /** Without a recording the tree starts empty, and every content stays unchanged. */
  static async open(git: Git, blobs: Pick<BlobStore, "get">, recording?: Recording): Promise<TreeWriter> {
    const folder = await mkdtemp(join(tmpdir(), "maestro-index-"));
    const work = join(folder, attributesFolder);
    await mkdir(work);
    const gitFolder = await git.text(["rev-parse", "--absolute-git-dir"]);
    const settings = [["core.autocrlf", recording?.autocrlf ?? "false"]] as const;
    const own = git.from(work, settings);
    const writer = new TreeWriter(own, folder, gitFolder, blobs, recording !== undefined);
    await own.run(recording === undefined ? ["read-tree", "--empty"] : ["read-tree", recording.from], {
      env: writer.#env,
    });
    await writer.#readAttributes();
    return writer;
  }

  /** The hash of the tree with these changes. */
  async write(changes: readonly TreeChange[]): Promise<string> {
    const attributes = changes.filter(({ path }) => isAttributes(path));
    await this.#update(attributes);
    // Attributes determine how the other files are recorded.
    if (attributes.length > 0) await this.#readAttributes();
    await this.#update(changes.filter(({ path }) => !isAttributes(path)));
    return this.#git.text(["write-tree"], { env: this.#env });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #update(changes: readonly TreeChange[]): Promise<void> {
    const lines: string[] = [];
    for (const { path, after } of changes)
      lines.push(`${after === undefined ? gone : await this.#entry(path, after)}\t${path}\0`);
    await this.#git.run(["update-index", "-z", "--index-info"], { input: lines.join(""), env: this.#env });
  }

  /** Git reads attributes only from files. */
  async #readAttributes(): Promise<void> {
    if (!this.#isConverting) return;
    const [env, work] = [this.#env, join(this.#folder, attributesFolder)];
    await rm(work, { recursive: true });
    await mkdir(work);
    const input = await this.#git.run(["ls-files", "-z", ":(top,glob)**/.gitattributes"], { env });
    if (input.length > 0) await this.#git.run(["checkout-index", "--force", "-z", "--stdin"], { env, input });
  }

  /** Applies the repository's conversion of line ends and keywords without running its programs. */
  async #entry(path: string, { sha256, mode }: TreeFile): Promise<string> {
    const input = await this.#blobs.get(sha256);
    const how = mode === "link" || !this.#isConverting ? "--no-filters" : `--path=${path}`;
    const oid = await this.#git.text(["hash-object", "-w", "--stdin", how], { input, env: this.#env });
    return `${modeOf[mode]} ${oid}`;
  }
}

const attributesFolder = "attributes";
const isAttributes = (path: string): boolean => /(?:^|\/)\.gitattributes$/.test(path);
