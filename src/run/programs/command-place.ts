import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { newId } from "../../domain/ids.ts";
import { reach } from "../../store/fault-points.ts";
import type { BlobStore } from "../../workspace/blobs.ts";
import type { Command, CommandResult, LaunchSettings } from "../../workspace/command.ts";
import type { LayerPart } from "../../workspace/layers/layer.ts";
import type { RunningService, Service } from "../../workspace/service.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import { AgentWorkdir, type HomeFiles, type LeftBehind } from "./agent-workdir.ts";
import { WorkingCopy } from "./working-copy.ts";

const toolLimits = { timeoutMs: 120_000, maxOutputBytes: 256 * 1024 };

/** Runs programs on a copy of the files on a real disk. The state directory is hidden from them. */
export class CommandPlace {
  readonly #blobs: BlobStore;
  readonly #stateDirectory: string;
  readonly #scratch: string;
  readonly #launch: LaunchSettings;

  constructor(blobs: BlobStore, stateDirectory: string, launch: LaunchSettings = {}) {
    this.#blobs = blobs;
    this.#stateDirectory = stateDirectory;
    this.#scratch = join(stateDirectory, "scratch");
    this.#launch = launch;
  }

  /** Copies the files into a fresh folder, runs the work there and reads back its changes. The folder is removed. */
  async inFolder<T>(workspace: Workspace, work: (directory: string) => Promise<T>): Promise<LeftBehind<T>> {
    const [{ materialize }, { readBack }, { removeFolder }, { ownerMark }] = await Promise.all([
      import("../../workspace/write-tree.ts"),
      import("../../workspace/read-back.ts"),
      import("../../workspace/remove-folder.ts"),
      import("../../workspace/scratch.ts"),
    ]);
    await mkdir(this.#scratch, { recursive: true, mode: 0o700 });
    const directory = join(this.#scratch, `${await ownerMark()}${newId()}`);
    try {
      const { tree } = workspace;
      await workspace.save();
      await materialize(tree, this.#blobs, directory);
      reach?.("scratch:after-copy");
      const result = await work(directory);
      const { changes, refused } = await readBack(directory, tree, this.#blobs);
      return { result, changes, refused };
    } finally {
      reach?.("scratch:before-remove");
      await removeFolder(directory);
    }
  }

  /** The files of an attempt, for the commands of its model. */
  workingCopy(): WorkingCopy {
    return new WorkingCopy(this.#blobs, this.#scratch);
  }

  /** A folder that outlives this process, for the conversation that this attempt of the session began. */
  kept(sessionId: string, started: number, files?: HomeFiles): AgentWorkdir {
    return new AgentWorkdir(this.#blobs, join(this.#scratch, "kept", sessionId, String(started)), files);
  }

  get isConfined(): boolean {
    return this.#launch.sandbox !== "none";
  }

  /** Starts a program that runs until it is stopped, in an empty folder of its own. */
  async service(
    service: Omit<Service, "directory" | "hidden" | "sandbox" | "limits">,
  ): Promise<RunningService & { readonly remove: () => Promise<void> }> {
    const [{ startService }, { removeFolder }, { ownerMark }] = await Promise.all([
      import("../../workspace/service.ts"),
      import("../../workspace/remove-folder.ts"),
      import("../../workspace/scratch.ts"),
    ]);
    const directory = join(this.#scratch, `${await ownerMark()}${newId()}`);
    await mkdir(directory, { recursive: true, mode: 0o700 });
    try {
      const running = await startService({
        ...service,
        directory,
        hidden: [this.#stateDirectory],
        ...this.#launch,
      });
      return { ...running, remove: () => removeFolder(directory) };
    } catch (error) {
      await removeFolder(directory);
      throw error;
    }
  }

  async run(command: Omit<Command, "hidden" | keyof LaunchSettings>): Promise<CommandResult> {
    const { runCommand } = await import("../../workspace/command.ts");
    return runCommand({ ...command, hidden: [this.#stateDirectory], ...this.#launch });
  }

  /** Runs one of the project's own tools, such as its formatter, and applies its changes to the workspace. */
  async runTool(
    workspace: Workspace,
    argv: readonly string[],
    signal: AbortSignal,
    layers: readonly LayerPart[] = [],
  ): Promise<{ readonly exitCode: number | null }> {
    const { result, changes } = await this.inFolder(workspace, (directory) =>
      this.run({ argv, directory, signal, ...toolLimits, network: false, writable: "workspace", layers }),
    );
    if (result.kind !== "exited") return { exitCode: null };
    workspace.reapply(changes);
    return { exitCode: result.code };
  }

  /** In the background: removes the folders of killed processes and ended sessions. */
  async sweep(isOver: (sessionId: string) => Promise<boolean>): Promise<void> {
    if (!existsSync(this.#scratch)) return;
    try {
      const { sweepScratch } = await import("../../workspace/scratch.ts");
      await sweepScratch(this.#scratch, isOver);
    } catch {
      // The store is closed, or a folder belongs to another user. The next open sweeps again.
    }
  }
}
