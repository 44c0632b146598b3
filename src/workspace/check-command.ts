import type { Check, CheckResult } from "../domain/contract.ts";
import { createFailure, type Failure } from "../domain/failure.ts";
import type { CommandResult } from "./command.ts";
import { workspacePlace } from "./sandbox-places.ts";

/** The output and the end of a command; paths are relative to the workspace. */
export interface CheckOutput {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number | null;
  readonly command: readonly string[];
}

const timeoutCode = 124;
const lastLines = 40;

export function judgeCommand(
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
