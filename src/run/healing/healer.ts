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
  /** The attempt has recorded steps of its own. */
  readonly hasProgressed: boolean;
  readonly checks: readonly CheckResult[];
  /** The result that failed the contract. Undefined when the work returned none. */
  readonly result: PersonaResult | undefined;
  readonly contract: Contract;
  /** Changes made here are recorded with the healer's step, and rolled back if they do not help. */
  readonly workspace: Workspace;
  readonly settings: AttemptSettings;
  /** How long the attempt may make no progress, and how far a healer may raise that. */
  readonly timeoutMs: number;
  readonly maxTimeoutMs: number;
  /** The limit of the model's answers, and how far a healer may raise it. Undefined when the team sets none. */
  readonly outputTokens: { readonly limit: number; readonly most: number } | undefined;
  /** The persona's write policy. A file changed against it is restored. */
  readonly mayWrite: (path: string) => boolean;
  /** The model of the attempt, and its fallbacks. */
  readonly model: string | undefined;
  readonly fallbackModels: readonly string[];
  /** Runs one of the project's own tools on the files, in the sandbox, and applies its changes. */
  readonly runTool: (argv: readonly string[]) => Promise<{ readonly exitCode: number | null }>;
  /** Copies a package that package.json declares from a folder of this machine into `node_modules`. */
  readonly installPackage: (name: string, fromFolder: string) => Promise<InstalledDependency>;
}

/** The change of a healer: to the files (recorded by the workspace), to the outputs, or to the next attempt. */
export interface Remedy {
  /** An action of a known kind, or one line for people. The changes are recorded in either case. */
  readonly action: HealingAction | string;
  readonly outputs?: Readonly<Record<string, Json>>;
  /** Only with a line for people: an action of a known kind has its own. */
  readonly settings?: AttemptSettings;
}

/**
 * Repairs the cause of a failed attempt before the next one. It is called for failures of its categories. Its action is a
 * step: made once, recorded, and rolled back if the contract is no better for it.
 */
export interface Healer {
  readonly name: string;
  readonly categories: readonly FailureCategory[];
  /** Undefined when it can do nothing. Then it must not have changed anything. */
  readonly heal: (sick: HealingCase) => Promise<Remedy | undefined>;
}
