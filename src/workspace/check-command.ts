import { lastLines } from "../domain/check-report.ts";
import { type CheckRun, judgeRun } from "../domain/check-verdict.ts";
import { type Check, type CheckLimits, type CheckResult, checkLimits } from "../domain/contract.ts";
import { createFailure, type Failure } from "../domain/failure.ts";
import { redact, secretsIn } from "../domain/redact.ts";
import { countedTests, countsOf, type TestReport } from "../domain/test-report.ts";
import type { BlobStore } from "./blobs.ts";
import { type CommandResult, type LaunchSettings, runCommand } from "./command.ts";
import type { LayerPart } from "./layers/layer.ts";
import type { Sandbox } from "./sandbox.ts";
import { type PlaceOptions, workspacePlace } from "./sandbox-places.ts";
import { BoundedOutput } from "./supervise.ts";

/** A command's output and exit, without secrets. Paths are relative to the workspace. */
export interface CheckOutput {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number | null;
  readonly command: readonly string[];
}

/** How a check's command runs and how its output is read. */
export interface CommandContext {
  readonly blobs: BlobStore;
  readonly signal: AbortSignal;
  readonly limits?: Partial<CheckLimits> | undefined;
  /** Settings that apply to every command. */
  readonly launch?: LaunchSettings | undefined;
  /** Prepared dependencies that commands see. */
  readonly layers?: readonly LayerPart[] | undefined;
  /** The parts of the machine that commands see. */
  readonly places?: PlaceOptions | undefined;
  /** The values of the variables that a check passes through. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Values to mask in the output, besides those of variables. */
  readonly secrets?: readonly string[] | undefined;
  /** Explains a command that failed. */
  readonly readFailures?: ((output: CheckOutput) => Failure[]) | undefined;
  readonly readTests?: ((output: CheckOutput) => TestReport | undefined) | undefined;
  readonly detect?: (() => Promise<Sandbox>) | undefined;
}

/** One run of a check's command, before it is judged. */
export type MeasuredCheck = { readonly unconfined: boolean } & (
  | { readonly kind: "not-started"; readonly reason: string }
  | ({
      readonly kind: "ended";
      /** "npm ended with exit code 1". */
      readonly sentence: string;
      /** True if a limit ended it. */
      readonly exceeded: boolean;
      readonly timedOut: boolean;
      readonly printed: CheckOutput;
      /** The artifact with its complete output, in order of arrival. */
      readonly output: string;
      /** Its middle is missing there, and what failed in it is not known. */
      readonly isCut: boolean;
      /** The end of the output. */
      readonly ending: string;
    } & CheckRun)
);

const timeoutCode = 124;
const longestEnding = 8_000;

/** Runs the command in the folder and stores what it prints. Throws the signal's reason when it is aborted. */
export async function measureCheck(
  check: Check,
  directory: string,
  context: CommandContext,
): Promise<MeasuredCheck> {
  const limits = { ...checkLimits, ...context.limits };
  const env = passedThrough(check, context.env ?? {});
  const whole = new BoundedOutput(2 * limits.maxOutputBytes);
  const result = await runCommand(
    {
      argv: check.run,
      directory,
      timeoutMs: check.timeoutMs ?? limits.timeoutMs,
      maxOutputBytes: limits.maxOutputBytes,
      signal: context.signal,
      network: false,
      writable: "workspace",
      ...context.launch,
      layers: context.layers,
      // Without these, npm and npx spend minutes on a registry that they cannot reach.
      env: { npm_config_offline: "true", npm_config_update_notifier: "false", ...env },
      onOutput: (text) => whole.add(Buffer.from(text)),
      ...context.places,
    },
    context.detect,
  );
  context.signal.throwIfAborted();
  const unconfined = result.sandbox === "none" && result.kind !== "not-started";
  if (result.kind === "not-started") return { kind: "not-started", reason: result.reason, unconfined };
  const secrets = [...secretsIn(env), ...(context.secrets ?? [])];
  const shown = (text: string) => redact(relativePaths(text, directory), secrets);
  const exitCode = result.kind === "exited" ? result.code : null;
  const printed = {
    stdout: shown(result.stdout),
    stderr: shown(result.stderr),
    exitCode: result.kind === "timeout" ? timeoutCode : exitCode,
    command: check.run,
  };
  const text = shown(whole.text());
  return {
    kind: "ended",
    sentence: howEnded(check, result),
    exceeded: result.kind === "exceeded",
    timedOut: result.kind === "timeout",
    exitCode,
    tests: context.readTests?.(printed),
    printed,
    output: await context.blobs.put(text),
    isCut: whole.isTruncated,
    ending: lastLines(text.trimEnd(), longestEnding),
    unconfined,
  };
}

function passedThrough(
  { env = [] }: Check,
  values: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  return Object.fromEntries(
    env.flatMap((name) => {
      const value = values[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

function howEnded({ run }: Check, result: Exclude<CommandResult, { readonly kind: "not-started" }>): string {
  const program = run[0] ?? "";
  switch (result.kind) {
    case "exited":
      return result.code === 0 ? `${program} ended with 0` : `${program} ended with exit code ${result.code}`;
    case "timeout":
      return `${program} ran out of time`;
    case "exceeded":
      return `${program} was ended: ${result.reason}`;
    case "aborted":
      return `${program} was stopped`;
  }
}

/** The path of the copy differs in each run, so messages must not contain it. */
function relativePaths(text: string, directory: string): string {
  return text.replaceAll(directory, workspacePlace).replace(/(?:file:\/\/)?\/workspace\//g, "");
}

/** `base`: the result of the same command on the session's initial files. */
export function judgeMeasured(
  check: Check,
  measured: MeasuredCheck,
  base: CheckRun | undefined,
  readFailures: CommandContext["readFailures"],
): CheckResult {
  const { name, must, weight, run } = check;
  const unconfined = measured.unconfined ? { unconfined: true as const } : {};
  const about = { kind: "command", name, must, weight, ...unconfined } as const;
  if (measured.kind === "not-started") {
    const failure = createFailure({
      category: "IMPORT",
      message: `${run[0] ?? ""} could not be run: ${measured.reason}`,
      source: "check",
      suggestedFix: "Install the program or correct the check.",
    });
    return { ...about, status: "not-run", message: failure.message, failures: [failure] };
  }
  const { sentence, tests, output, ending, exitCode } = measured;
  const kept = {
    ...(tests !== undefined && { tests: countsOf(tests) }),
    output,
    ...(ending !== "" && { ending }),
  };
  const verdict = judgeRun(check, measured, base);
  const cut = measured.isCut ? `. ${lostMiddle}` : "";
  if (verdict.passed) {
    const counted = tests === undefined ? "" : `: ${countedTests(tests)}`;
    const compared = exitCode === 0 ? "" : ", no worse than before the session began";
    const message = `${sentence}${counted}${compared}${cut}`;
    return { ...about, status: "passed", message, failures: [], ...kept };
  }
  const reasons = verdict.why === undefined ? [] : [unfit(check, sentence, verdict.why)];
  const found = exitCode === 0 ? [] : failuresOf(measured, readFailures);
  const failures = [...reasons, ...found];
  const first = failures[0]?.message ?? sentence;
  const { message } = createFailure({
    category: "CONTRACT",
    message: first.startsWith(run[0] ?? "") ? first : `${sentence}: ${first}`,
    source: "check",
  });
  return { ...about, status: "failed", message: `${message}${cut}`, failures, ...kept };
}

const lostMiddle = "It printed more than is kept: the middle of its output is missing";

/** The command itself may pass, but the rule is not met. */
function unfit({ must }: Check, sentence: string, why: string): Failure {
  return createFailure({
    category: "TEST_FAILURE",
    message: `${sentence}, but ${why}`,
    source: "check",
    suggestedFix:
      must === "no-worse"
        ? "Let the tests pass that passed before the session began."
        : "Write tests that the command finds and runs.",
  });
}

function failuresOf(
  measured: Extract<MeasuredCheck, { readonly kind: "ended" }>,
  readFailures: CommandContext["readFailures"],
): readonly Failure[] {
  const { sentence, exceeded, timedOut, printed, ending } = measured;
  const read = exceeded ? [] : (readFailures?.(printed) ?? []);
  if (read.length > 0) return read;
  const last = ending.split("\n").findLast((line) => line.trim() !== "");
  return [
    createFailure({
      category: exceeded ? "RESOURCE" : timedOut ? "TIMEOUT" : "CONTRACT",
      message: exceeded || last === undefined ? sentence : `${sentence}: ${last.trim()}`,
      details: lastLines(ending, 4_000),
      source: "check",
      code: printed.exitCode === null ? undefined : String(printed.exitCode),
      suggestedFix: exceeded
        ? "Let the check use less, or raise the limit (commands.memoryMiB, commands.diskMiB)."
        : undefined,
    }),
  ];
}
