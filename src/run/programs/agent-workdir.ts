import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isJsonObject, type Json, type JsonObject, parseJson } from "../../domain/json.ts";
import { emptyTree, type Tree, type TreeChange } from "../../domain/tree.ts";
import type { CommandFolder } from "../../personas/model/ports.ts";
import { reach } from "../../store/fault-points.ts";
import type { BlobStore } from "../../workspace/blobs.ts";
import type { Workspace } from "../../workspace/workspace.ts";

/** The result of a program, and the files that it left in its folder. */
export interface LeftBehind<T> {
  readonly result: T;
  readonly changes: readonly TreeChange[];
  readonly refused: readonly { readonly path: string; readonly reason: string }[];
}

export interface NotedConversation {
  readonly session: string;
  /** Its usage before its last run, as that run noted it. */
  readonly used: Json;
  readonly home: string;
}

/** What its home has at the beginning: the skills, and settings by path. */
export interface HomeFiles {
  readonly skills: Tree;
  readonly home: Readonly<Record<string, string>>;
}

/**
 * The folder of one conversation with an agent, on disk until the agent's work is recorded. The driver after a crash finds
 * the files as the agent left them, its home, and the name of its session.
 */
export class AgentWorkdir {
  readonly #blobs: BlobStore;
  readonly #folder: string;
  readonly #files: HomeFiles;

  constructor(blobs: BlobStore, folder: string, files: HomeFiles = { skills: emptyTree, home: {} }) {
    this.#blobs = blobs;
    this.#folder = folder;
    this.#files = files;
  }

  /** `keeps`: whether failed work can be resumed; otherwise the next run starts afresh. */
  async inFolder<T>(
    workspace: Workspace,
    work: (folder: CommandFolder) => Promise<T>,
    keeps: (error: unknown) => Promise<boolean>,
  ): Promise<LeftBehind<T>> {
    const { readBack } = await import("../../workspace/read-back.ts");
    const { tree, hash } = workspace;
    await workspace.save();
    const restart = () => this.#restart(workspace);
    const { session = null } = (await this.noted(hash)) ?? {};
    if (session === null) await restart();
    const place = { directory: this.#at("workspace"), home: this.#at("home"), session, restart };
    try {
      const result = await work({ ...place, note: (name, used) => this.#note(hash, name, used) });
      const { changes, refused } = await readBack(place.directory, tree, this.#blobs);
      return { result, changes, refused };
    } catch (error) {
      if (!(await keeps(error))) await this.forget();
      throw error;
    }
  }

  /** Called when the work is recorded. After a crash before it, the next driver calls it. */
  async forget(): Promise<void> {
    const { removeFolder } = await import("../../workspace/remove-folder.ts");
    reach?.("kept:before-remove");
    await removeFolder(this.#folder);
  }

  async #restart({ tree }: Workspace): Promise<void> {
    const { materialize } = await import("../../workspace/write-tree.ts");
    await this.forget();
    await mkdir(this.#at("home"), { recursive: true, mode: 0o700 });
    const { skills, home } = this.#files;
    if (skills.size > 0) await materialize(skills, this.#blobs, this.#at("home/skills"));
    for (const [path, content] of Object.entries(home)) {
      const file = join(this.#at("home"), path);
      await mkdir(dirname(file), { recursive: true, mode: 0o700 });
      await writeFile(file, content, { mode: 0o600 });
    }
    await materialize(tree, this.#blobs, this.#at("workspace"));
    reach?.("kept:after-copy");
  }

  /** The note is outside the folders that the agent can write. */
  async #note(tree: string, session: string, used: JsonObject): Promise<void> {
    const path = this.#at("session.json");
    await writeFile(`${path}.new`, JSON.stringify({ tree, session, used }), { mode: 0o600 });
    await rename(`${path}.new`, path);
  }

  /** The conversation that an earlier run on these files noted. */
  async noted(tree: string): Promise<NotedConversation | undefined> {
    try {
      const note = parseJson(await readFile(this.#at("session.json"), "utf8"), { maxBytes: 100_000 });
      if (!isJsonObject(note) || note["tree"] !== tree || typeof note["session"] !== "string")
        return undefined;
      return { session: note["session"], used: note["used"] ?? null, home: this.#at("home") };
    } catch {
      // There is no note, or a crash cut it. The command then runs again from its first files.
      return undefined;
    }
  }

  #at(name: string): string {
    return join(this.#folder, name);
  }
}
