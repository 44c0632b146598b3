import { mkdir } from "node:fs/promises";
import type { CheckRun } from "../../domain/check-verdict.ts";
import type { Check, CheckResult, Contract } from "../../domain/contract.ts";
import { SetupFailed } from "../../domain/errors.ts";
import type { Json } from "../../domain/json.ts";
import type { Tree } from "../../domain/tree.ts";
import type { BlobStore } from "../../workspace/blobs.ts";
import type { MeasuredCheck } from "../../workspace/check-command.ts";
import type { LaunchSettings } from "../../workspace/command.ts";
import type { ExtraFiles } from "../../workspace/extra-files.ts";
import type { LayerPart } from "../../workspace/layers/layer.ts";
import { notInstalled } from "../setup/not-installed.ts";
import type { LayersFor } from "../setup/session-setups.ts";

export interface SandboxOptions {
  readonly launch?: LaunchSettings;
  /** Where the values of variables come from that checks pass through. */
  readonly env?: Readonly<Record<string, string | undefined>>;
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
  #layersFor: LayersFor | undefined;

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
    checks.#layersFor = this.#layersFor;
    return checks;
  }

  /** The same, for commands that see prepared dependencies of their files. */
  withLayers(layersFor: LayersFor): SandboxChecks {
    const checks = new SandboxChecks(this.#blobs, this.#scratch, this.#stateDirectory, this.#options);
    checks.#readExtra = this.#readExtra;
    checks.#layersFor = layersFor;
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

  /**
   * Runs one command on a fresh copy of the tree; its changes there are discarded. `base`: how it ended on the files that
   * the session began with.
   */
  async run(check: Check, tree: Tree, signal: AbortSignal, base?: CheckRun): Promise<CheckResult> {
    const { runCheck } = await import("../../workspace/checks.ts");
    let layers: readonly LayerPart[] | undefined;
    try {
      layers = await this.#layersFor?.(tree, signal);
    } catch (error) {
      if (!SetupFailed.is(error)) throw error;
      return notInstalled(check, error);
    }
    const context = { tree, outputs: undefined, base, layers, ...(await this.#commandContext(signal)) };
    const result = await runCheck({ kind: "command", check }, context);
    if (result.unconfined === true) this.#warnUnconfined();
    return result;
  }

  /** The same without a judgment. */
  async measure(check: Check, tree: Tree, signal: AbortSignal): Promise<MeasuredCheck> {
    const { measureOn } = await import("../../workspace/checks.ts");
    const layers = await this.#layersFor?.(tree, signal);
    const measured = await measureOn(tree, check, { ...(await this.#commandContext(signal)), layers });
    if (measured.unconfined) this.#warnUnconfined();
    return measured;
  }

  /** False only for a program that no work of a persona can bring about. */
  async isInstalled(program: string): Promise<boolean> {
    // A layer may provide the program; running the check will tell.
    if (this.#layersFor !== undefined) return true;
    const { isInstalledHere } = await import("../../workspace/sandbox-launch.ts");
    return isInstalledHere(program, this.#options.launch?.sandbox, { hidden: [this.#stateDirectory] });
  }

  /** Once: a hundred warnings would hide all others. */
  #warnUnconfined(): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    this.#options.notice?.(
      "Checks run without a sandbox, with the network and all your files (sandbox: none).",
    );
  }

  /** The readers of output are loaded with the first command. */
  async #commandContext(signal: AbortSignal) {
    const [{ readOutput }, { readTests }] = await Promise.all([
      import("../failure/read-output.ts"),
      import("../failure/read-tests.ts"),
    ]);
    await mkdir(this.#scratch, { recursive: true, mode: 0o700 });
    const extraFiles = await this.#readExtra?.();
    return { ...this.#context(signal), readFailures: readOutput, readTests, extraFiles };
  }

  #context(signal: AbortSignal) {
    const { launch, env } = this.#options;
    const places = { hidden: [this.#stateDirectory] };
    return { blobs: this.#blobs, scratch: this.#scratch, signal, places, launch, env };
  }
}
