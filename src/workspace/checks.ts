import type { CheckRun } from "../domain/check-verdict.ts";
import type { Check, CheckResult, Contract, Deliverable } from "../domain/contract.ts";
import { createFailure } from "../domain/failure.ts";
import type { Json } from "../domain/json.ts";
import type { Tree } from "../domain/tree.ts";
import { isInstalled } from "../domain/tree-path.ts";
import { type CommandContext, judgeMeasured, type MeasuredCheck, measureCheck } from "./check-command.ts";
import { type ExtraFiles, secretsOf, withExtraFiles } from "./extra-files.ts";
import { checkSchema, showProblem, validateJson } from "./json-schema.ts";
import { namedMatchers } from "./named-files.ts";
import { WorkingCopy } from "./working-tree.ts";

/** One line for people and for the next attempt: the first problem, and the number of others. */
export function oneLine(problems: readonly string[]): string {
  const [first = "", ...rest] = problems;
  const more = rest.length === 0 ? "" : ` (and ${rest.length} more)`;
  return `${first.replace(/\s+/g, " ").slice(0, 400).toWellFormed()}${more}`;
}

export function judgeOutputs(schema: Readonly<Record<string, Json>>, outputs: Json | undefined): CheckResult {
  const base = { kind: "schema", name: "outputs", must: true, weight: 1 } as const;
  const wrong = checkSchema(schema).map(showProblem);
  if (wrong.length > 0)
    return { ...base, status: "not-run", message: `The schema is wrong: ${oneLine(wrong)}`, failures: [] };
  const problems =
    outputs === undefined ? ["no outputs were given"] : validateJson(schema, outputs).map(showProblem);
  if (problems.length === 0)
    return { ...base, status: "passed", message: "The outputs fit the schema.", failures: [] };
  const failures = problems.map((message) =>
    createFailure({
      category: "CONTRACT",
      message: `The outputs do not fit the schema: ${message}`,
      source: "schema",
      suggestedFix: "Give outputs that fit the contract's schema.",
    }),
  );
  return { ...base, status: "failed", message: oneLine(problems), failures };
}

/** Each glob must match a non-empty file, because a placeholder is no deliverable. */
export function judgeDeliverable({ name, files, must, weight }: Deliverable, tree: Tree): CheckResult {
  const base = { kind: "deliverable", name, must, weight } as const;
  if (files.length === 0) return { ...base, status: "not-run", message: "It names no files.", failures: [] };
  const problems = [...namedMatchers(files)].flatMap(([glob, isMatch]) => {
    const found = [...tree].filter(([path]) => isMatch(path) && !isInstalled(path));
    if (found.some(([, { bytes }]) => bytes > 0)) return [];
    const [first] = found;
    return [first === undefined ? `no file matches ${glob}` : `${first[0]} is empty`];
  });
  if (problems.length === 0)
    return { ...base, status: "passed", message: "All files are there.", failures: [] };
  const failures = problems.map((message) =>
    createFailure({
      category: "CONTRACT",
      message: `The deliverable ${name} is missing: ${message}`,
      source: "deliverable",
      suggestedFix: "Write the file, with content, at a path that the glob matches.",
    }),
  );
  return { ...base, status: "failed", message: oneLine(problems), failures };
}

/** One requirement of a contract. Deliverables, schema and commands are all checks. */
type DeclaredCheck =
  | { readonly kind: "deliverable"; readonly deliverable: Deliverable }
  | { readonly kind: "schema"; readonly schema: Readonly<Record<string, Json>> }
  | { readonly kind: "command"; readonly check: Check };

/** The input of a judgment. */
interface CheckContext extends CommandContext {
  readonly tree: Tree;
  /** Undefined if the persona returned none. */
  readonly outputs: Json | undefined;
  /** A folder for temporary copies. Nothing stays in it. */
  readonly scratch: string;
  /** The command's result on the session's initial files. */
  readonly base?: CheckRun | undefined;
  /** Files for commands only, in addition to the tree. Their values are masked in the output. */
  readonly extraFiles?: ExtraFiles | undefined;
}

export interface ChecksOptions extends CheckContext {
  readonly contract: Contract;
  /** Called before and after each check. The result is missing while it runs. */
  readonly onProgress?: ((check: DeclaredCheck, result: CheckResult | undefined) => void) | undefined;
}

export const declaredChecks = ({ deliverables, outputs, checks }: Contract): DeclaredCheck[] => [
  ...deliverables.map((deliverable) => ({ kind: "deliverable", deliverable }) as const),
  ...(outputs === undefined ? [] : [{ kind: "schema", schema: outputs } as const]),
  ...checks.map((check) => ({ kind: "command", check }) as const),
];

/** Runs all checks of the contract, one after the other. Throws the signal's reason if it is aborted. */
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

/** Runs one check alone. */
export async function runCheck(check: DeclaredCheck, context: CheckContext): Promise<CheckResult> {
  context.signal.throwIfAborted();
  await using copy = copyFor(context);
  return await judge(check, context, copy);
}

type CopyContext = Pick<CheckContext, "tree" | "blobs" | "scratch" | "extraFiles">;

function copyFor({ tree, blobs, scratch, extraFiles }: CopyContext): WorkingCopy {
  const whole = extraFiles === undefined ? { tree, blobs } : withExtraFiles(tree, blobs, extraFiles);
  return new WorkingCopy(whole.tree, whole.blobs, scratch);
}

/** Runs one command on the files without judging it. */
export async function measureOn(
  tree: Tree,
  check: Check,
  context: CommandContext & Omit<CopyContext, "tree">,
): Promise<MeasuredCheck> {
  context.signal.throwIfAborted();
  await using copy = copyFor({ ...context, tree });
  return await measureCheck(check, await copy.fresh(), masking(context));
}

const masking = <Context extends Pick<CheckContext, "extraFiles">>(context: Context) => ({
  ...context,
  secrets: secretsOf(context.extraFiles),
});

async function judge(check: DeclaredCheck, context: CheckContext, copy: WorkingCopy): Promise<CheckResult> {
  if (check.kind === "deliverable") return judgeDeliverable(check.deliverable, context.tree);
  if (check.kind === "schema") return judgeOutputs(check.schema, context.outputs);
  const measured = await measureCheck(check.check, await copy.fresh(), masking(context));
  return judgeMeasured(check.check, measured, context.base, context.readFailures);
}
