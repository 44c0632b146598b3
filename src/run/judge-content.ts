import { type Check, type CheckResult, type Contract, type GateResult, judge } from "../domain/contract.ts";
import type { Tree } from "../domain/tree.ts";
import type { PersonaChecks, PersonaResult } from "../journal/journal.ts";
import type { PhaseDefinition } from "../team/definition/team-definition.ts";

export interface JudgedContent {
  readonly gate?: GateResult;
  readonly checks?: readonly PersonaChecks[];
}

/**
 * What nobody here worked for, held against the contracts of the phase: files and outputs. No command is run for it: what
 * is declared and not run counts against the score, and the best that can be said is that nobody has verified it.
 */
export async function judgeContent(
  { personas, gate }: PhaseDefinition,
  tree: Tree,
  results: Readonly<Record<string, PersonaResult>>,
): Promise<JudgedContent> {
  const checks: PersonaChecks[] = [];
  for (const { name, contract } of personas) {
    const judged = [
      ...(await judgeFiles(contract, tree, results[name])),
      ...contract.checks.map((check) => notRun(check)),
    ];
    if (judged.length > 0) checks.push({ persona: name, results: judged });
  }
  const all = checks.flatMap((persona) => persona.results);
  if (all.length === 0 && gate === null) return {};
  const judged = judge(
    all.filter(({ kind }) => kind !== "command"),
    gate?.threshold,
  );
  const isWhole = all.every(({ kind }) => kind !== "command");
  const verdict = judged.verdict === "passed" && !isWhole ? "unverified" : judged.verdict;
  return { gate: { ...judge(all, gate?.threshold), verdict }, ...(checks.length > 0 && { checks }) };
}

async function judgeFiles(
  { deliverables, outputs: schema }: Contract,
  tree: Tree,
  result: PersonaResult | undefined,
): Promise<CheckResult[]> {
  if (deliverables.length === 0 && schema === undefined) return [];
  const [{ judgeDeliverable }, { judgeOutputs }] = await Promise.all([
    import("../workspace/checks.ts"),
    import("../workspace/checks.ts"),
  ]);
  const judged: CheckResult[] = deliverables.map((deliverable) => judgeDeliverable(deliverable, tree));
  if (schema !== undefined) judged.push(judgeOutputs(schema, { ...result?.outputs }));
  return judged;
}

const notRun = ({ name, must, weight }: Check): CheckResult => ({
  kind: "command",
  name,
  status: "not-run",
  must,
  weight,
  message: "No command is run for what came from outside or was edited.",
  failures: [],
});
