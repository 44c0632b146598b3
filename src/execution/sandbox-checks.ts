import { mkdir } from "node:fs/promises";
import type { Check, CheckResult, Contract } from "../domain/contract.ts";
import type { Json } from "../domain/json.ts";
import type { Tree } from "../domain/tree.ts";
import type { BlobStore } from "../workspace/blob-store.ts";
import type { CheckRunner } from "./check-runner.ts";

/** Judges in a sandbox, on copies of the files in a folder of their own. What it needs is loaded at the first check. */
export class SandboxChecks implements CheckRunner {
  readonly #blobs: BlobStore;
  readonly #scratch: string;
  /** Nothing that is checked may look in here. */
  readonly #stateDirectory: string;

  constructor(blobs: BlobStore, scratch: string, stateDirectory: string) {
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
    return runCheck({ kind: "command", check }, context);
  }

  #context(signal: AbortSignal) {
    const places = { hidden: [this.#stateDirectory] };
    return { blobs: this.#blobs, scratch: this.#scratch, signal, places };
  }
}
