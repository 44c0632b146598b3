import { type CheckResult, type GateResult, judge } from "../domain/contract.ts";
import type { PersonaChecks, PersonaResult } from "../domain/journal.ts";
import type { Tree } from "../domain/tree.ts";
import type { PhaseDefinition } from "./definition/team-definition.ts";

export interface JudgedContent {
  readonly gate?: GateResult;
  readonly checks?: readonly PersonaChecks[];
}

/**
 * What nobody here worked for, held against the contracts of the phase: files and outputs. No command is run for it, so
 * where one is declared the best that can be said is that nobody has verified it.
 */
export async function judgeContent(
  { personas, gate }: PhaseDefinition,
  tree: Tree,
  results: Readonly<Record<string, PersonaResult>>,
): Promise<JudgedContent> {
  const checks: PersonaChecks[] = [];
  for (const { name, contract } of personas) {
    const { deliverables, outputs: schema } = contract;
    if (deliverables.length === 0 && schema === undefined) continue;
    const [{ judgeDeliverable }, { judgeOutputs }] = await Promise.all([
      import("../workspace/check-deliverable.ts"),
      import("../workspace/check-outputs.ts"),
    ]);
    const judged: CheckResult[] = deliverables.map((deliverable) => judgeDeliverable(deliverable, tree));
    if (schema !== undefined) judged.push(judgeOutputs(schema, { ...results[name]?.outputs }));
    checks.push({ persona: name, results: judged });
  }
  const all = checks.flatMap((persona) => persona.results);
  if (all.length === 0 && gate === null) return {};
  const verdict = judge(all, gate?.threshold);
  const unverified =
    verdict.verdict === "passed" && personas.some(({ contract }) => contract.checks.length > 0);
  return {
    gate: unverified ? { ...verdict, verdict: "unverified" } : verdict,
    ...(checks.length > 0 && { checks }),
  };
}
