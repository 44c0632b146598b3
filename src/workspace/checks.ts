import {
  type Check,
  type CheckLimits,
  type CheckResult,
  type Contract,
  checkLimits,
  type Deliverable,
} from "../domain/contract.ts";
import { createFailure, type Failure } from "../domain/failure.ts";
import type { Json } from "../domain/json.ts";
import type { Tree } from "../domain/tree.ts";
import { isInstalled } from "../domain/tree-path.ts";
import type { BlobStore } from "./blobs.ts";
import { type Command, type CommandResult, runCommand } from "./command.ts";
import { type ExtraFiles, maskSecrets, withExtraFiles } from "./extra-files.ts";
import { checkSchema, showProblem, validateJson } from "./json-schema.ts";
import { namedMatchers } from "./named-files.ts";
import type { Sandbox } from "./sandbox.ts";
import { type PlaceOptions, workspacePlace } from "./sandbox-places.ts";
import { WorkingCopy } from "./working-tree.ts";

/** One line for people and for the next attempt: the first problem, and how many more there are. */
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

/** Each glob must match a file that is not empty: a placeholder is no deliverable. */
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

/** The output and the end of a command; paths are relative to the workspace. */
interface CheckOutput {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number | null;
  readonly command: readonly string[];
}

const timeoutCode = 124;
const lastLines = 40;

function judgeCommand(
  check: Check,
  result: CommandResult,
  directory: string,
  readFailures: ((output: CheckOutput) => Failure[]) | undefined,
): CheckResult {
  const base = {
    kind: "command",
    name: check.name,
    must: check.must,
    weight: check.weight,
    ...(result.sandbox === "none" && result.kind !== "not-started" && { unconfined: true as const }),
  } as const;
  const program = check.run[0] ?? "";
  if (result.kind === "not-started") {
    const message = `${program} could not be run: ${result.reason}`;
    const failure = createFailure({
      category: "IMPORT",
      message,
      source: "check",
      suggestedFix: "Install the program or correct the check.",
    });
    return { ...base, status: "not-run", message: failure.message, failures: [failure] };
  }
  if (result.kind === "aborted")
    return { ...base, status: "not-run", message: `${program} was stopped`, failures: [] };
  if (result.kind === "exceeded") {
    const failure = createFailure({
      category: "RESOURCE",
      message: `${program} was ended: ${result.reason}`,
      source: "check",
      suggestedFix: "Let the check use less, or raise the limit (commands.memoryMiB, commands.diskMiB).",
    });
    return { ...base, status: "failed", message: failure.message, failures: [failure] };
  }
  const code = result.kind === "exited" ? result.code : timeoutCode;
  if (code === 0) return { ...base, status: "passed", message: `${program} ended with 0`, failures: [] };
  const output: CheckOutput = {
    stdout: relativePaths(result.stdout, directory),
    stderr: relativePaths(result.stderr, directory),
    exitCode: code,
    command: check.run,
  };
  const ended =
    result.kind === "timeout" ? `${program} ran out of time` : `${program} ended with exit code ${code}`;
  const read = readFailures?.(output) ?? [];
  const failures = read.length > 0 ? read : [unexplained(result.kind, ended, code, output)];
  const first = failures[0]?.message ?? "";
  const { message } = createFailure({
    category: "CONTRACT",
    message: first.startsWith(program) ? first : `${ended}: ${first}`,
    source: "check",
  });
  return { ...base, status: "failed", message, failures };
}

function unexplained(kind: string, ended: string, code: number, output: CheckOutput): Failure {
  const lines = [output.stdout, output.stderr]
    .join("\n")
    .split("\n")
    .filter((line) => line.trim() !== "");
  const last = lines.at(-1)?.trim();
  return createFailure({
    category: kind === "timeout" ? "TIMEOUT" : "CONTRACT",
    message: last === undefined ? ended : `${ended}: ${last}`,
    details: lines.slice(-lastLines).join("\n").slice(-4000),
    source: "check",
    code: String(code),
  });
}

/** The path of the copy differs in each run, so it is removed from messages. */
function relativePaths(text: string, directory: string): string {
  return text.replaceAll(directory, workspacePlace).replace(/(?:file:\/\/)?\/workspace\//g, "");
}

/** One thing that a contract asks for; deliverables, schema and commands are all checks. */
type DeclaredCheck =
  | { readonly kind: "deliverable"; readonly deliverable: Deliverable }
  | { readonly kind: "schema"; readonly schema: Readonly<Record<string, Json>> }
  | { readonly kind: "command"; readonly check: Check };

/** The input of a judgment. */
interface CheckContext {
  readonly tree: Tree;
  /** Undefined when the persona gave none. */
  readonly outputs: Json | undefined;
  readonly blobs: BlobStore;
  /** A folder for temporary copies; nothing stays in it. */
  readonly scratch: string;
  readonly signal: AbortSignal;
  readonly limits?: Partial<CheckLimits> | undefined;
  /** Of every command. */
  readonly launch?: Pick<Command, "sandbox" | "limits"> | undefined;
  /** The parts of the machine that commands see. */
  readonly places?: PlaceOptions | undefined;
  /** Explains a command that failed. */
  readonly readFailures?: ((output: CheckOutput) => Failure[]) | undefined;
  readonly detect?: (() => Promise<Sandbox>) | undefined;
  /** Files that only commands get, beside those of the tree. */
  readonly extraFiles?: ExtraFiles | undefined;
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

function copyFor({ tree, blobs, scratch, places, extraFiles }: CheckContext): WorkingCopy {
  const whole = extraFiles === undefined ? { tree, blobs } : withExtraFiles(tree, blobs, extraFiles);
  return new WorkingCopy(whole.tree, whole.blobs, scratch, places?.modules);
}

async function judge(check: DeclaredCheck, context: CheckContext, copy: WorkingCopy): Promise<CheckResult> {
  if (check.kind === "deliverable") return judgeDeliverable(check.deliverable, context.tree);
  if (check.kind === "schema") return judgeOutputs(check.schema, context.outputs);
  const directory = await copy.fresh();
  const result = maskSecrets(await run(check.check, directory, context), context.extraFiles);
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
      ...context.launch,
      // Without these npm and npx ask a registry that they cannot reach, for minutes.
      env: { npm_config_offline: "true", npm_config_update_notifier: "false" },
      ...context.places,
    },
    context.detect,
  );
}
