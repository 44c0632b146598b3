import type { Check, CheckResult, Contract, Deliverable } from "../domain/contract.ts";
import type { Failure } from "../domain/failure.ts";
import type { Json } from "../domain/json.ts";
import type { Tree } from "../domain/tree.ts";
import type { BlobStore } from "./blob-store.ts";
import { type CheckOutput, judgeCommand } from "./check-command.ts";
import { judgeDeliverable } from "./check-deliverable.ts";
import { judgeOutputs } from "./check-outputs.ts";
import { type CommandResult, runCommand } from "./command.ts";
import type { Sandbox } from "./sandbox.ts";
import type { PlaceOptions } from "./sandbox-places.ts";
import { WorkingCopy } from "./working-copy.ts";

export type { CheckOutput } from "./check-command.ts";

/** One thing that a contract asks for; deliverables, schema and commands are all checks. */
export type DeclaredCheck =
  | { readonly kind: "deliverable"; readonly deliverable: Deliverable }
  | { readonly kind: "schema"; readonly schema: Readonly<Record<string, Json>> }
  | { readonly kind: "command"; readonly check: Check };

export interface CheckLimits {
  /** For a check that names no time of its own. */
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
}

export const checkLimits: CheckLimits = { timeoutMs: 120_000, maxOutputBytes: 1024 * 1024 };

/** The input of a judgment. */
export interface CheckContext {
  readonly tree: Tree;
  /** Undefined when the persona gave none. */
  readonly outputs: Json | undefined;
  readonly blobs: BlobStore;
  /** A folder for temporary copies; nothing stays in it. */
  readonly scratch: string;
  readonly signal: AbortSignal;
  readonly limits?: Partial<CheckLimits> | undefined;
  /** Commands do not start without a sandbox. */
  readonly sandboxRequired?: boolean | undefined;
  /** The parts of the machine that commands see. */
  readonly places?: PlaceOptions | undefined;
  /** Explains a command that failed. */
  readonly readFailures?: ((output: CheckOutput) => Failure[]) | undefined;
  readonly detect?: (() => Promise<Sandbox>) | undefined;
}

export interface ChecksOptions extends CheckContext {
  readonly contract: Contract;
  /** Called before and after each check; the result is missing while it runs. */
  readonly onProgress?: ((check: DeclaredCheck, result: CheckResult | undefined) => void) | undefined;
}

export const declaredChecks = ({ deliverables, outputs, checks }: Contract): DeclaredCheck[] => [
  ...deliverables.map((deliverable) => ({ kind: "deliverable", deliverable }) as const),
  ...(outputs === undefined ? [] : [{ kind: "schema", schema: outputs } as const]),
  ...checks.map((check) => ({ kind: "command", check }) as const),
];

/** All that the contract asks for, one after the other. Throws the signal's reason when it is aborted. */
export async function runChecks({ contract, onProgress, ...context }: ChecksOptions): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  await using copy = copyFor(context);
  for (const check of declaredChecks(contract)) {
    context.signal.throwIfAborted();
    onProgress?.(check, undefined);
    const result = await judge(check, context, copy);
    onProgress?.(check, result);
    results.push(result);
  }
  return results;
}

/** One check alone. */
export async function runCheck(check: DeclaredCheck, context: CheckContext): Promise<CheckResult> {
  context.signal.throwIfAborted();
  await using copy = copyFor(context);
  return await judge(check, context, copy);
}

const copyFor = ({ tree, blobs, scratch, places }: CheckContext): WorkingCopy =>
  new WorkingCopy(tree, blobs, scratch, places?.modules);

async function judge(check: DeclaredCheck, context: CheckContext, copy: WorkingCopy): Promise<CheckResult> {
  if (check.kind === "deliverable") return judgeDeliverable(check.deliverable, context.tree);
  if (check.kind === "schema") return judgeOutputs(check.schema, context.outputs);
  const directory = await copy.fresh();
  const result = await run(check.check, directory, context);
  context.signal.throwIfAborted();
  return judgeCommand(check.check, result, directory, context.readFailures);
}

function run(check: Check, directory: string, context: CheckContext): Promise<CommandResult> {
  const limits = { ...checkLimits, ...context.limits };
  return runCommand(
    {
      argv: check.run,
      directory,
      timeoutMs: check.timeoutMs ?? limits.timeoutMs,
      maxOutputBytes: limits.maxOutputBytes,
      signal: context.signal,
      network: false,
      writable: "workspace",
      sandboxRequired: context.sandboxRequired,
      // Without these npm and npx ask a registry that they cannot reach, for minutes.
      env: { npm_config_offline: "true", npm_config_update_notifier: "false" },
      ...context.places,
    },
    context.detect,
  );
}
