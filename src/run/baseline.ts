import { isStartFailure } from "../domain/check-verdict.ts";
import { type Check, checkKey } from "../domain/contract.ts";
import { SetupFailed } from "../domain/errors.ts";
import { countsOf } from "../domain/test-report.ts";
import { emptyTree, type Tree } from "../domain/tree.ts";
import type { BaselineRun } from "../journal/judgment-values.ts";
import { isAllAccepted } from "../journal/planned.ts";
import type { SessionState } from "../journal/session-state.ts";
import type { Blobs } from "../store/blobs.ts";
import type { Team } from "../team/define.ts";
import type { TeamDefinition } from "../team/definition/team-definition.ts";
import type { MeasuredCheck } from "../workspace/check-command.ts";
import { namedMatcher } from "../workspace/named-files.ts";
import { loadTree } from "../workspace/stored-tree.ts";
import type { ClaimedSession } from "./drive.ts";
import { checksOf } from "./session-checks.ts";

/** Checks with the same command run once. */
interface Measuring {
  readonly check: Check;
  readonly names: readonly string[];
  /** Whether one of them decides about an attempt. */
  readonly isNeeded: boolean;
  /** All its personas have yet to deliver the first of their files. */
  readonly isAwaited: boolean;
}

/**
 * Runs the command of every check once on the files that the session began with, before a model is asked: what fails
 * already is no fault of a persona. Each is a row, so a crash repeats only those without one, and a changed team runs
 * only its new checks. A check that cannot be started here either is a fault of the set-up.
 */
export async function measureBaseline({ definition }: Team, session: ClaimedSession): Promise<void> {
  const { journal, artifacts, control, log } = session;
  const { source } = journal.state.created;
  if (source === undefined || isAllAccepted(journal.state)) return;
  if (unmeasured(definition, journal.state, emptyTree).size === 0) return;
  const tree = await loadTree(artifacts, source.tree);
  const checks = checksOf(session);
  for (const [key, { check, names, isNeeded, isAwaited }] of unmeasured(definition, journal.state, tree)) {
    control.throwIfStopped();
    if (!isAwaited) log("baseline", `runs ${names.join(", ")} on the files as they are`);
    const measured = await checks.measure(check, tree, control.signal);
    if (isNeeded && !isDelivered(check, tree, definition)) refuseUnstartable(check, measured);
    const { row, artifacts: kept } = await rowOf(measured, artifacts);
    const awaited = isAwaited ? ({ awaited: true } as const) : {};
    await journal.append([{ kind: "baseline.measured", key, checks: names, ...row, ...awaited }], {
      artifacts: kept,
    });
  }
}

function unmeasured(
  { phases }: TeamDefinition,
  { baseline }: SessionState,
  tree: Tree,
): Map<string, Measuring> {
  const found = new Map<string, Measuring>();
  for (const { contract } of phases.flatMap(({ personas }) => personas)) {
    const files = contract.deliverables.flatMap((deliverable) => deliverable.files);
    const isAwaited = files.length > 0 && ![...tree.keys()].some(namedMatcher(files));
    for (const check of contract.checks) {
      const key = checkKey(check);
      if (baseline.has(key)) continue;
      const known = found.get(key);
      found.set(key, {
        check: known?.check ?? check,
        names: [...new Set([...(known?.names ?? []), check.name])],
        isNeeded: known?.isNeeded === true || check.must !== false,
        isAwaited: known?.isAwaited !== false && isAwaited,
      });
    }
  }
  return found;
}

/** A program that a persona has yet to write cannot be started before. */
function isDelivered({ run }: Check, tree: Tree, { phases }: TeamDefinition): boolean {
  const program = (run[0] ?? "").replace(/^\.\//, "");
  if (!(run[0] ?? "").includes("/") || tree.has(program)) return false;
  return phases.some(({ personas }) =>
    personas.some(({ contract }) =>
      contract.deliverables.some(({ files }) => files.length > 0 && namedMatcher(files)(program)),
    ),
  );
}

function refuseUnstartable({ name, run }: Check, measured: MeasuredCheck): void {
  const command = run.join(" ");
  if (measured.kind === "not-started") {
    throw new SetupFailed(`The check ${name} cannot be started: ${measured.reason}.`, {
      details: { check: name, run },
      advice: `Install ${run[0] ?? "the program"} on this machine.`,
    });
  }
  if (!isStartFailure(measured.exitCode)) return;
  throw new SetupFailed(
    `The check ${name} cannot be started: ${command} ended with exit code ${measured.exitCode}.`,
    {
      details: { check: name, run, output: measured.output, printed: measured.ending },
      advice: "If a program is missing on this machine, install it.",
    },
  );
}

async function rowOf(measured: MeasuredCheck, artifacts: Blobs) {
  if (measured.kind === "not-started") {
    const row = { status: "not-run", exitCode: null, message: measured.reason } as const;
    return { row, artifacts: [] };
  }
  const { exitCode, sentence: message, tests, output } = measured;
  const names = tests?.names === undefined ? undefined : await artifacts.put(JSON.stringify(tests.names));
  const status: BaselineRun["status"] = exitCode === 0 ? "passed" : "failed";
  return {
    row: {
      status,
      exitCode,
      message,
      ...(tests !== undefined && { tests: countsOf(tests) }),
      ...(names !== undefined && { names }),
      output,
    },
    artifacts: names === undefined ? [output] : [output, names],
  };
}
