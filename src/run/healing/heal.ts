import type { Clock } from "../../domain/clock.ts";
import type { CheckResult } from "../../domain/contract.ts";
import { AttemptTimeout, InputInvalid } from "../../domain/errors.ts";
import {
  type AttemptSettings,
  type Healed,
  type HealingAction,
  inWords,
  settingsOf,
} from "../../domain/healing-action.ts";
import type { Json } from "../../domain/json.ts";
import { changesBetween, type Tree } from "../../domain/tree.ts";
import type { PersonaResult } from "../../journal/journal.ts";
import type { StepRecorder } from "../step.ts";
import { asRecorded, failedAction } from "./as-recorded.ts";
import { refuseWrongInstall } from "./declared-package.ts";
import type { Healer, HealingCase, Remedy } from "./healer.ts";
import { readRemedy } from "./read-remedy.ts";

export interface Healing {
  /** The contract passes now, with these outputs. */
  readonly result?: PersonaResult;
  readonly checks?: readonly CheckResult[];
  readonly tried: readonly Healed[];
  /** How the next attempt should work. */
  readonly settings?: AttemptSettings;
  /** Files or settings changed, so that the next attempt starts a new conversation. */
  readonly mended: boolean;
}

/** The failed attempt, as its healers need it. */
export interface FailedAttempt {
  readonly steps: StepRecorder;
  readonly clock: Clock;
  /** Puts back changes of protected files. Packages that were installed before `since` stay. */
  readonly putBack: (since: Tree) => Promise<void>;
  readonly validateAgain: (result: PersonaResult) => Promise<readonly CheckResult[]>;
  /** Rethrows errors that are not failures of a healer. */
  readonly stopUnlessFailed: (error: unknown) => void;
}

/** A limit of its own, because the watchdog of the attempt has ended. */
const longestHealingMs = 300_000;

/**
 * Asks each healer of the category in turn. Its action is a step, so it is made once. Then the whole contract runs again.
 * If it passes, the attempt is completed. If it is better than before, the action is kept for the next attempt. Otherwise
 * the action is rolled back, as is that of a healer that throws, answers wrongly or does not end.
 */
export async function heal(
  healers: readonly Healer[],
  sick: HealingCase,
  attempt: FailedAttempt,
): Promise<Healing> {
  const { workspace, mayWrite } = sick;
  const { putBack, validateAgain, stopUnlessFailed } = attempt;
  const tried: Healed[] = [];
  let settings: AttemptSettings | undefined;
  let mended = false;
  let now: HealingCase = sick;
  for (const healer of healers) {
    if (!healer.categories.includes(sick.failure.category)) continue;
    const before = workspace.tree;
    const changedPaths = () => changesBetween(before, workspace.tree).map(({ path }) => path);
    const rollBack = () => {
      if (workspace.tree !== before) workspace.reapply(changesBetween(workspace.tree, before));
    };
    const noted = (did: HealingAction, outcome: Healed["outcome"], forbidden?: string) => {
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
    try {
      const remedy = await ask(healer, now, attempt);
      // An installation is judged below: it may change the folder of a declared package, and nothing else.
      if (!isInstallation(remedy)) await putBack(before);
      const changed = changedPaths();
      if (remedy === undefined) {
        if (changed.length > 0)
          throw new InputInvalid("It changed files without returning an action that names them.");
        continue;
      }
      const did = asRecorded(remedy, now, changed);
      if (did.kind === "installed-dependency") await refuseWrongInstall(did, workspace, changed);
      const changedSettings = settingsOf(did);
      if (changedSettings !== undefined) {
        // An action on settings must not change files: no check would judge them.
        rollBack();
        settings = { ...settings, ...changedSettings };
        mended ||= changesTheWork(changedSettings);
        noted(did, "kept");
        continue;
      }
      const forbidden = changed.find((path) => !mayWrite(path));
      if (now.result === undefined || forbidden !== undefined) {
        rollBack();
        noted(did, "rolled-back", forbidden);
        continue;
      }
      const result = remedy.outputs === undefined ? now.result : { ...now.result, outputs: remedy.outputs };
      const checks = await validateAgain(result);
      if (missed(checks) === 0) {
        noted(did, "passed");
        return { result, checks, tried, mended: true };
      }
      const better = missed(checks) < missed(now.checks);
      if (better) now = { ...now, result, checks };
      else rollBack();
      mended ||= better;
      noted(did, better ? "kept" : "rolled-back");
    } catch (error) {
      stopUnlessFailed(error);
      const did = failedAction(error, changedPaths());
      rollBack();
      noted(did, "rolled-back");
    }
  }
  return { tried, mended, ...(settings !== undefined && { settings }) };
}

const isInstallation = (remedy: Remedy | undefined): boolean =>
  typeof remedy?.action === "object" && remedy.action.kind === "installed-dependency";

/** The healer gets a copy of the result: a change that it does not return has no effect. */
async function ask(
  healer: Healer,
  sick: HealingCase,
  { steps, clock }: FailedAttempt,
): Promise<Remedy | undefined> {
  const shown = { ...sick, result: structuredClone(sick.result) };
  const answered = await steps.perform<Json>({
    kind: "heal",
    name: healer.name,
    input: healingInput(sick),
    isNothing: (done) => done === null,
    effect: async () => ((await inTime(healer.heal(shown), clock)) ?? null) as Json,
  });
  return answered === null ? undefined : readRemedy(answered);
}

async function inTime<T>(healing: Promise<T>, clock: Clock): Promise<T> {
  const ended = new AbortController();
  const late = async (): Promise<never> => {
    await clock.sleep(longestHealingMs, ended.signal);
    throw new AttemptTimeout(`The healer did not end within ${longestHealingMs / 1_000} s.`);
  };
  try {
    return await Promise.race([healing, late()]);
  } finally {
    ended.abort();
  }
}

/** More time continues the same conversation. Another model, prompt or answer length cannot. */
function changesTheWork({ model, contextShare, maxOutputTokens }: AttemptSettings): boolean {
  return model !== undefined || contextShare !== undefined || maxOutputTokens !== undefined;
}

function missed(checks: readonly CheckResult[]): number {
  return checks.filter(({ must, status }) => must && status !== "passed").length;
}

/** A continuing attempt inherits the steps of the one before, but a healer that failed there may succeed now. */
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
