import type { Check, CheckResult, Contract } from "../domain/contract.ts";
import type { Json } from "../domain/json.ts";
import type { Tree } from "../domain/tree.ts";

/** Judges files, outputs and commands. A port, so that an attempt does not know about disks and sandboxes. */
export interface CheckRunner {
  /** Deliverables and schema: no command is run. */
  judgeFiles(contract: Contract, tree: Tree, outputs: Readonly<Record<string, Json>>): Promise<CheckResult[]>;
  /** One command on a fresh copy of the tree; what it changes there is thrown away. */
  run(check: Check, tree: Tree, signal: AbortSignal): Promise<CheckResult>;
}
