import { mkdir } from "node:fs/promises";
import type { Check, CheckResult, Contract } from "../domain/contract.ts";
import type { Json } from "../domain/json.ts";
import type { Tree } from "../domain/tree.ts";
import type { BlobStore } from "../workspace/blob-store.ts";
import type { CheckRunner } from "./check-runner.ts";

export interface SandboxOptions {
  readonly sandboxRequired?: boolean;
  readonly notice?: (text: string) => void;
}

/** Judges in a sandbox, on copies of the files in a folder of their own. What it needs is loaded at the first check. */
export class SandboxChecks implements CheckRunner {
  readonly #blobs: BlobStore;
  readonly #scratch: string;
  /** Nothing that is checked may look in here. */
  readonly #stateDirectory: string;

  readonly #options: SandboxOptions;
  #isSaid = false;

  constructor(blobs: BlobStore, scratch: string, stateDirectory: string, options: SandboxOptions = {}) {
    this.#options = options;
    this.#blobs = blobs;
    this.#scratch = scratch;
    this.#stateDirectory = stateDirectory;
  }

  async judgeFiles(
    { deliverables, outputs: schema }: Contract,
    tree: Tree,
    outputs: Readonly<Record<string, Json>>,
  ): Promise<CheckResult[]> {
    if (deliverables.length === 0 && schema === undefined) return [];
    const { runChecks } = await import("../workspace/checks.ts");
    const contract = { deliverables, checks: [], ...(schema !== undefined && { outputs: schema }) };
    return runChecks({
      contract,
      tree,
      outputs: { ...outputs },
      ...this.#context(new AbortController().signal),
    });
  }

  async run(check: Check, tree: Tree, signal: AbortSignal): Promise<CheckResult> {
    const [{ runCheck }, { readOutput }] = await Promise.all([
      import("../workspace/checks.ts"),
      import("./failure/read-output.ts"),
    ]);
    await mkdir(this.#scratch, { recursive: true, mode: 0o700 });
    const context = { tree, outputs: undefined, ...this.#context(signal), readFailures: readOutput };
    const result = await runCheck({ kind: "command", check }, context);
    if (result.unconfined === true) await this.#sayUnconfined();
    return result;
  }

  /** Once: who reads it can act on it, and a hundred times would hide the rest. */
  async #sayUnconfined(): Promise<void> {
    if (this.#isSaid) return;
    this.#isSaid = true;
    const { describeSandbox } = await import("../workspace/sandbox.ts");
    const found = await describeSandbox();
    const why = found.kind === "none" ? ` ${found.reason}` : "";
    this.#options.notice?.(`Checks run without a sandbox, with the network and all your files.${why}`);
  }

  #context(signal: AbortSignal) {
    const places = { hidden: [this.#stateDirectory] };
    const { sandboxRequired } = this.#options;
    return { blobs: this.#blobs, scratch: this.#scratch, signal, places, sandboxRequired };
  }
}
