import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { newId } from "../domain/ids.ts";
import { reach } from "../store/fault-points.ts";
import type { BlobStore } from "../workspace/blobs.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { AgentWorkdir, type LeftBehind } from "./agent-workdir.ts";

/** Where files of the virtual workspace meet a real disk, for as long as a program works on them. */
export class CommandPlace {
  readonly #blobs: BlobStore;
  readonly #scratch: string;

  constructor(blobs: BlobStore, scratch: string) {
    this.#blobs = blobs;
    this.#scratch = scratch;
  }

  /** Copies the files into a fresh folder, lets the work happen there and reads back what it left; nothing stays. */
  async inFolder<T>(workspace: Workspace, work: (directory: string) => Promise<T>): Promise<LeftBehind<T>> {
    const [{ materialize }, { readBack }, { removeFolder }, { ownerMark }] = await Promise.all([
      import("../workspace/write-tree.ts"),
      import("../workspace/read-back.ts"),
      import("../workspace/remove-folder.ts"),
      import("../workspace/scratch.ts"),
    ]);
    await mkdir(this.#scratch, { recursive: true, mode: 0o700 });
    const directory = join(this.#scratch, `${await ownerMark()}${newId()}`);
    try {
      const { tree } = workspace;
      await workspace.save();
      await materialize(tree, this.#blobs, directory);
      reach("scratch:after-copy");
      const result = await work(directory);
      const { changes, refused } = await readBack(directory, tree, this.#blobs);
      return { result, changes, refused };
    } finally {
      reach("scratch:before-remove");
      await removeFolder(directory);
    }
  }

  /** A folder that outlives this process, for the conversation that this attempt of the session began. */
  kept(sessionId: string, started: number): AgentWorkdir {
    return new AgentWorkdir(this.#blobs, join(this.#scratch, "kept", sessionId, String(started)));
  }

  /** In the background: removes the folders of killed processes and ended sessions. */
  async sweep(isOver: (sessionId: string) => Promise<boolean>): Promise<void> {
    if (!existsSync(this.#scratch)) return;
    try {
      const { sweepScratch } = await import("../workspace/scratch.ts");
      await sweepScratch(this.#scratch, isOver);
    } catch {
      // Closed meanwhile, or not ours to remove: the next one tries again.
    }
  }
}
