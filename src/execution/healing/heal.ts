import type { CheckResult } from "../../domain/contract.ts";
import type { AttemptSettings, Healed, PersonaResult } from "../../domain/journal.ts";
import { changesBetween } from "../../domain/tree.ts";
import type { StepRecorder } from "../step-recorder.ts";
import type { Healer, HealingAction, HealingCase } from "./healer.ts";

export interface Healing {
  /** The contract passes now, with these outputs. */
  readonly result?: PersonaResult;
  readonly checks?: readonly CheckResult[];
  readonly tried: readonly Healed[];
  /** How the next attempt should work. */
  readonly settings?: AttemptSettings;
}

/**
 * Each healer of the category in turn. Its action is a step, so it is made once; then the whole contract runs again:
 * passed, and the attempt is done; better than before, and it is kept for the next attempt; else it is rolled back.
 */
export async function heal(
  healers: readonly Healer[],
  sick: HealingCase,
  steps: StepRecorder,
  validateAgain: (result: PersonaResult) => Promise<readonly CheckResult[]>,
): Promise<Healing> {
  const tried: Healed[] = [];
  let settings: AttemptSettings | undefined;
  let now: HealingCase = sick;
  for (const healer of healers) {
    if (!healer.categories.includes(sick.failure.category)) continue;
    const before = sick.workspace.tree;
    const healed = await steps.perform<HealingAction | null>({
      kind: "heal",
      name: healer.name,
      input: healingInput(now),
      isNothing: (done) => done === null,
      effect: async () => (await healer.heal(now)) ?? null,
    });
    if (healed === null) continue;
    const { action, outputs } = healed;
    if (healed.settings !== undefined) {
      settings = { ...settings, ...healed.settings };
      tried.push({ healer: healer.name, action, outcome: "kept" });
      continue;
    }
    if (now.result === undefined) continue;
    const result = outputs === undefined ? now.result : { ...now.result, outputs };
    const checks = await validateAgain(result);
    if (missed(checks) === 0) {
      tried.push({ healer: healer.name, action, outcome: "passed" });
      return { result, checks, tried };
    }
    const better = missed(checks) < missed(now.checks);
    if (better) now = { ...now, result, checks };
    else sick.workspace.reapply(changesBetween(sick.workspace.tree, before));
    tried.push({ healer: healer.name, action, outcome: better ? "kept" : "rolled-back" });
  }
  return { tried, ...(settings !== undefined && { settings }) };
}

function missed(checks: readonly CheckResult[]): number {
  return checks.filter(({ must, status }) => must && status !== "passed").length;
}

/** An attempt that goes on inherits the steps of the one before, but what could not be healed then may be healed now. */
function healingInput({ failure, earlier, result, settings, workspace }: HealingCase) {
  const { category, message, file = null, line = null } = failure;
  return JSON.parse(
    JSON.stringify({
      category,
      message,
      file,
      line,
      earlier: earlier.length,
      outputs: result?.outputs ?? null,
      settings,
      tree: workspace.hash,
    }),
  );
}
