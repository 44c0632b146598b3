import { checkReport } from "../domain/check-report.ts";
import type { Check, CheckResult, Contract } from "../domain/contract.ts";
import { ContractUnfulfilled } from "../domain/errors.ts";
import type { PersonaResult } from "../journal/journal.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { Drive } from "./drive.ts";
import type { StepRecorder } from "./step.ts";

/** Runs all checks of the contract on the current files and outputs. Each command is a step. */
export async function validate(
  contract: Contract,
  result: PersonaResult,
  workspace: Workspace,
  steps: StepRecorder,
  checks: Drive["checks"],
  signal: AbortSignal,
): Promise<CheckResult[]> {
  const judged = await checks.judgeFiles(contract, workspace.tree, result.outputs);
  for (const check of contract.checks) {
    judged.push(
      await steps.perform({
        kind: "check",
        name: check.name,
        input: { ...ruleOf(check), run: check.run, tree: workspace.hash },
        artifacts: (judged) => outputsOf([judged]),
        effect: () => checkWorkspace(check, workspace, checks, signal),
      }),
    );
  }
  return judged;
}

/** The part of a check that decides about its output: a changed rule is judged anew. */
const ruleOf = ({ must, minTests, env }: Check) => ({
  ...(must === "no-worse" && { must }),
  ...(minTests !== undefined && { minTests }),
  ...(env !== undefined && { env }),
});

/** The artifacts that the results name. */
export const outputsOf = (results: readonly CheckResult[]): readonly string[] =>
  results.flatMap(({ output }) => output ?? []);

/** The command reads the files from the store, so they are saved first. */
export async function checkWorkspace(
  check: Check,
  workspace: Workspace,
  checks: Drive["checks"],
  signal: AbortSignal,
): Promise<CheckResult> {
  await workspace.save();
  return checks.run(check, workspace.tree, signal);
}

const mostReports = 8;

/** A failed required check fails the attempt, with a message that the next attempt can act on. */
export function refuseUnfulfilled(persona: string, results: readonly CheckResult[]): void {
  const missed = results.filter(({ must, status }) => must && status !== "passed");
  const [first] = missed;
  if (first === undefined) return;
  const list = missed.map(({ name, message }) => `${name}: ${message}`).join("\n");
  const reports = missed.slice(0, mostReports).map(checkReport);
  throw new ContractUnfulfilled(
    `${persona} does not fulfill its contract: ${missed.length} of ${results.length} checks failed. ${first.name}: ${first.message}`,
    {
      details: {
        persona,
        missed: missed.map(({ name }) => name),
        list,
        reports,
        failures: missed.flatMap(({ failures }) => failures),
      },
      advice: first.failures[0]?.suggestedFix,
    },
  );
}
