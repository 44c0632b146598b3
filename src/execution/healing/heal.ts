import type { CheckResult } from "../../domain/contract.ts";
import { type AttemptSettings, type Healed, inWords, settingsOf } from "../../domain/healing-action.ts";
import type { PersonaResult } from "../../domain/journal.ts";
import { changesBetween } from "../../domain/tree.ts";
import type { StepRecorder } from "../step-recorder.ts";
import { asRecorded } from "./as-recorded.ts";
import type { Healer, HealingCase, Remedy } from "./healer.ts";

export interface Healing {
  /** The contract passes now, with these outputs. */
  readonly result?: PersonaResult;
  readonly checks?: readonly CheckResult[];
  readonly tried: readonly Healed[];
  /** How the next attempt should work. */
  readonly settings?: AttemptSettings;
  /** The next attempt finds something else than this one did, and so begins anew. */
  readonly mended: boolean;
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
  const { workspace, mayWrite } = sick;
  const tried: Healed[] = [];
  let settings: AttemptSettings | undefined;
  let mended = false;
  let now: HealingCase = sick;
  for (const healer of healers) {
    if (!healer.categories.includes(sick.failure.category)) continue;
    const before = workspace.tree;
    const remedy = await steps.perform<Remedy | null>({
      kind: "heal",
      name: healer.name,
      input: healingInput(now),
      isNothing: (done) => done === null,
      effect: async () => (await healer.heal(now)) ?? null,
    });
    if (remedy === null) continue;
    const changed = changesBetween(before, workspace.tree).map(({ path }) => path);
    const did = asRecorded(remedy, now, changed);
    const noted = (outcome: Healed["outcome"], forbidden?: string) => {
      const why = forbidden === undefined ? "" : ` (${forbidden} may not be written)`;
      const action = inWords(did) + why;
      tried.push({
        healer: healer.name,
        action,
        did,
        outcome,
        ...(forbidden !== undefined && { forbidden }),
      });
    };
    const rollBack = () => {
      if (workspace.tree !== before) workspace.reapply(changesBetween(workspace.tree, before));
    };
    const changedSettings = settingsOf(did);
    if (changedSettings !== undefined) {
      // How to work is all that it may say then: files would be judged by nobody.
      rollBack();
      settings = { ...settings, ...changedSettings };
      mended ||= changesTheWork(changedSettings);
      noted("kept");
      continue;
    }
    const forbidden = changed.find((path) => !mayWrite(path));
    if (now.result === undefined || forbidden !== undefined) {
      rollBack();
      noted("rolled-back", forbidden);
      continue;
    }
    const result = remedy.outputs === undefined ? now.result : { ...now.result, outputs: remedy.outputs };
    const checks = await validateAgain(result);
    if (missed(checks) === 0) {
      noted("passed");
      return { result, checks, tried, mended: true };
    }
    const better = missed(checks) < missed(now.checks);
    if (better) now = { ...now, result, checks };
    else rollBack();
    mended ||= better;
    noted(better ? "kept" : "rolled-back");
  }
  return { tried, mended, ...(settings !== undefined && { settings }) };
}

/** With more time the same conversation goes on; with another model, prompt or length of answers it could not. */
function changesTheWork({ model, contextShare, maxOutputTokens }: AttemptSettings): boolean {
  return model !== undefined || contextShare !== undefined || maxOutputTokens !== undefined;
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
