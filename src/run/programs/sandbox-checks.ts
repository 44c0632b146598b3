import { mkdir } from "node:fs/promises";
import type { Check, CheckResult, Contract } from "../../domain/contract.ts";
import type { Json } from "../../domain/json.ts";
import type { Tree } from "../../domain/tree.ts";
import type { BlobStore } from "../../workspace/blobs.ts";
import type { Command } from "../../workspace/command.ts";
import type { ExtraFiles } from "../../workspace/extra-files.ts";

export interface SandboxOptions {
  readonly launch?: Pick<Command, "sandbox" | "limits">;
  readonly notice?: (text: string) => void;
}

/** Judges files and outputs, and runs checks in a sandbox. The code for both is loaded at the first check. */
export class SandboxChecks {
  readonly #blobs: BlobStore;
  readonly #scratch: string;
  /** Hidden from every check. */
  readonly #stateDirectory: string;

  readonly #options: SandboxOptions;
  #hasWarned = false;
  #readExtra: (() => Promise<ExtraFiles>) | undefined;

  constructor(blobs: BlobStore, scratch: string, stateDirectory: string, options: SandboxOptions = {}) {
    this.#options = options;
    this.#blobs = blobs;
    this.#scratch = scratch;
    this.#stateDirectory = stateDirectory;
  }

  /** The same, for commands that get these files beside those of the tree. */
  withExtraFiles(read: () => Promise<ExtraFiles>): SandboxChecks {
    const checks = new SandboxChecks(this.#blobs, this.#scratch, this.#stateDirectory, this.#options);
    checks.#readExtra = read;
    return checks;
  }

  /** Deliverables and the schema of the outputs; runs no command. */
  async judgeFiles(
    { deliverables, outputs: schema }: Contract,
    tree: Tree,
    outputs: Readonly<Record<string, Json>>,
  ): Promise<CheckResult[]> {
    if (deliverables.length === 0 && schema === undefined) return [];
    const { runChecks } = await import("../../workspace/checks.ts");
    const contract = { deliverables, checks: [], ...(schema !== undefined && { outputs: schema }) };
    return runChecks({
      contract,
      tree,
      outputs: { ...outputs },
      ...this.#context(new AbortController().signal),
    });
  }

  /** Runs one command on a fresh copy of the tree; its changes there are discarded. */
  async run(check: Check, tree: Tree, signal: AbortSignal): Promise<CheckResult> {
    const [{ runCheck }, { readOutput }] = await Promise.all([
      import("../../workspace/checks.ts"),
      import("../failure/read-output.ts"),
    ]);
    await mkdir(this.#scratch, { recursive: true, mode: 0o700 });
    const extraFiles = await this.#readExtra?.();
    const context = {
      tree,
      outputs: undefined,
      ...this.#context(signal),
      readFailures: readOutput,
      extraFiles,
    };
    const result = await runCheck({ kind: "command", check }, context);
    if (result.unconfined === true) this.#warnUnconfined();
    return result;
  }

  /** Once: a hundred warnings would hide all others. */
  #warnUnconfined(): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    this.#options.notice?.(
      "Checks run without a sandbox, with the network and all your files (sandbox: none).",
    );
  }

  #context(signal: AbortSignal) {
    const places = { hidden: [this.#stateDirectory] };
    return { blobs: this.#blobs, scratch: this.#scratch, signal, places, launch: this.#options.launch };
  }
}
