import type { CheckResult, Contract } from "../../domain/contract.ts";
import type { Failure, FailureCategory } from "../../domain/failure.ts";
import type { AttemptSettings, HealingAction, InstalledDependency } from "../../domain/healing-action.ts";
import type { Json } from "../../domain/json.ts";
import type { PersonaResult } from "../../journal/journal.ts";
import type { Workspace } from "../../workspace/workspace.ts";

/** The failure, and everything that a healer may read or change. */
export interface HealingCase {
  readonly failure: Failure;
  /** Why earlier attempts failed, oldest first. */
  readonly earlier: readonly Failure[];
  /** The attempt has done something of its own, beyond what it continues. */
  readonly hasProgressed: boolean;
  readonly checks: readonly CheckResult[];
  /** The result that the contract refused; undefined when the work did not return one. */
  readonly result: PersonaResult | undefined;
  readonly contract: Contract;
  /** Changes made here are recorded with the healer's step, and rolled back if they do not help. */
  readonly workspace: Workspace;
  readonly settings: AttemptSettings;
  /** How long the attempt could stand still, and how long its team lets one at most. */
  readonly timeoutMs: number;
  readonly maxTimeoutMs: number;
  /** How long an answer of the model may be, and how long its team lets one be at most; of a limit that the team set. */
  readonly outputTokens: { readonly limit: number; readonly most: number } | undefined;
  /** The persona's write policy; a file changed against it is restored. */
  readonly mayWrite: (path: string) => boolean;
  /** The model of the attempt, and those to fall back to. */
  readonly model: string | undefined;
  readonly fallbackModels: readonly string[];
  /** Runs one of the project's own tools on the files, in the sandbox; its changes come back. */
  readonly runTool: (argv: readonly string[]) => Promise<{ readonly exitCode: number | null }>;
  /** Copies a package that package.json declares from a folder of this machine into `node_modules`. */
  readonly installPackage: (name: string, fromFolder: string) => Promise<InstalledDependency>;
}

/** The change of a healer: to the files (recorded by the workspace), to the outputs, or to the next attempt. */
export interface Remedy {
  /** Of a kind, or one line for people; what is changed is on record in either case. */
  readonly action: HealingAction | string;
  readonly outputs?: Readonly<Record<string, Json>>;
  /** Beside a line for people; an action of a kind says it itself. */
  readonly settings?: AttemptSettings;
}

/**
 * Mends what stopped an attempt, before the next one. Asked for the failures of its categories; its action is a step:
 * made once, recorded, and rolled back when the contract is no better for it.
 */
export interface Healer {
  readonly name: string;
  readonly categories: readonly FailureCategory[];
  /** Undefined when there is nothing it could do; then it must not have changed anything. */
  readonly heal: (sick: HealingCase) => Promise<Remedy | undefined>;
}
