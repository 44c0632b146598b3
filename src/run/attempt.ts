import type { CheckResult } from "../domain/contract.ts";
import { fromErrorJson } from "../domain/error-json.ts";
import { InputInvalid, MaestroError } from "../domain/errors.ts";
import type { Failure } from "../domain/failure.ts";
import type { AttemptSettings, Healed } from "../domain/healing-action.ts";
import type { Saving } from "../domain/ledger.ts";
import type { RetryPolicy } from "../domain/retry-policy.ts";
import { emptyTree, type Tree } from "../domain/tree.ts";
import type { PersonaResult, RecordedFailure } from "../journal/journal.ts";
import { conversationOf } from "../journal/session-state.ts";
import type { WorkContext } from "../personas/function.ts";
import { refuseForbidden, writeRule } from "../personas/tools/tool-runner.ts";
import { loadTree } from "../workspace/stored-tree.ts";
import { Workspace } from "../workspace/workspace.ts";
import type { ActiveAttempt } from "./active-attempt.ts";
import { type Control, InfrastructureFailure, infrastructureFailed, orAbandon, Watchdog } from "./control.ts";
import type { Drive } from "./drive.ts";
import { checkResult } from "./persona-result.ts";
import type { PersonaWork } from "./persona-work.ts";
import { StepRecorder } from "./step.ts";
import { checkWorkspace, refuseUnfulfilled, validate } from "./validate.ts";

/** How an attempt ended, with the files it left. */
export type AttemptEnd = {
  readonly tree: string | undefined;
  readonly artifacts: readonly string[];
  readonly savings: readonly Saving[] | undefined;
  readonly checks: readonly CheckResult[];
  readonly healing: readonly Healed[];
} & (
  | { readonly kind: "completed"; readonly result: PersonaResult }
  | {
      readonly kind: "failed";
      readonly error: unknown;
      readonly failure: Failure;
      readonly failedStep: number | undefined;
      readonly settings: AttemptSettings | undefined;
      /** Healing changed files or settings for the next attempt. */
      readonly mended: boolean;
    }
);

/** One attempt, from its first step to its judged result. */
export class AttemptRun {
  readonly #drive: Drive;
  readonly #work: PersonaWork;
  readonly #running: ActiveAttempt;
  readonly #reasons: readonly RecordedFailure[];
  readonly #repeats: RetryPolicy | undefined;
  readonly #timeout = new AbortController();
  readonly #signal: AbortSignal;
  readonly #watchdog: Watchdog;
  #checks: readonly CheckResult[] = [];
  #began: Tree = emptyTree;

  constructor(
    drive: Drive,
    work: PersonaWork,
    running: ActiveAttempt,
    reasons: readonly RecordedFailure[],
    /** See `CallingAttempt`. */
    repeats: RetryPolicy | undefined,
  ) {
    this.#drive = drive;
    this.#work = work;
    this.#running = running;
    this.#reasons = reasons;
    this.#repeats = repeats;
    this.#signal = AbortSignal.any([drive.control.signal, this.#timeout.signal]);
    this.#watchdog = new Watchdog(drive.clock, running.attempt.settings.timeoutMs ?? work.timeoutMs);
  }

  async run(): Promise<AttemptEnd> {
    const { artifacts } = this.#drive;
    const { attempt } = this.#running;
    // The files that the attempt began with. Replayed steps apply their changes again.
    const tree =
      attempt.tree === undefined
        ? emptyTree
        : await loadTree(artifacts, attempt.tree).catch(infrastructureFailed);
    this.#began = tree;
    const workspace = new Workspace(artifacts, tree);
    // A changed input changes every fingerprint, so that the steps detect the divergence.
    const steps = new StepRecorder(this.#drive, {
      running: this.#running,
      input: this.#work.input,
      workspace,
      watchdog: this.#watchdog,
      signal: this.#signal,
      hasFallback: this.#hasFallback(),
      repeats: this.#repeats,
    });
    try {
      return await this.#end(workspace, steps);
    } finally {
      steps.end();
    }
  }

  async #end(workspace: Workspace, steps: StepRecorder): Promise<AttemptEnd> {
    const { control, clock } = this.#drive;
    const { persona, healers } = this.#work;
    let result: PersonaResult | undefined;
    try {
      result = await this.#perform(workspace, steps);
      refuseForbidden(persona, this.#work.policy, this.#began, workspace);
      this.#checks = await this.#validate(result, workspace, steps);
      refuseUnfulfilled(persona, this.#checks);
      return {
        kind: "completed",
        result,
        healing: [],
        checks: this.#checks,
        ...(await this.#save(workspace, steps)),
      };
    } catch (thrown) {
      stopOrBreak(control, steps, thrown);
      const error = this.#forbidden(workspace) ?? thrown;
      // Loaded at the first failure: a clean start does not pay for it.
      const { classifyError } = await import("./failure/classify-error.ts");
      const failure = classifyError(error, clock.now());
      const healing =
        healers.length === 0 || isFinal(error)
          ? { tried: [], mended: false }
          : await this.#heal(failure, result, workspace, steps);
      const left = await this.#save(workspace, steps);
      if (healing.result !== undefined) {
        return {
          kind: "completed",
          result: healing.result,
          checks: healing.checks ?? [],
          healing: healing.tried,
          ...left,
        };
      }
      const failedStep = steps.failedStep(error);
      const { settings, mended } = healing;
      const ended = { error, failure, failedStep, settings, mended };
      return { kind: "failed", ...ended, checks: this.#checks, healing: healing.tried, ...left };
    }
  }

  #hasFallback(): boolean {
    const { model, fallbackModels, healers } = this.#work;
    const asked = this.#running.attempt.settings.model ?? model ?? "";
    return healers.length > 0 && fallbackModels.indexOf(asked) < fallbackModels.length - 1;
  }

  /** Failed work must obey the write rules too: the next attempt begins with its files. */
  #forbidden(workspace: Workspace): unknown {
    try {
      refuseForbidden(this.#work.persona, this.#work.policy, this.#began, workspace);
      return undefined;
    } catch (violation) {
      return violation;
    }
  }

  async #perform(workspace: Workspace, steps: StepRecorder): Promise<PersonaResult> {
    const { control, clock } = this.#drive;
    const { perform, persona } = this.#work;
    const context = this.#context(workspace, steps);
    const work = async (): Promise<unknown> => {
      try {
        return await perform(context);
      } finally {
        await steps.settle();
      }
    };
    const returned = await workspace.lend(async () => {
      const abandonable = orAbandon(work, control.signal, clock);
      try {
        return await this.#watchdog.watch(abandonable, (reason) => this.#timeout.abort(reason));
      } finally {
        steps.endWork();
        // Abandoned steps are recorded, and their changes are removed while they can still be identified.
        await steps.settle();
        steps.throwIfInfrastructureFailed();
      }
    });
    // A persona may have caught the stop and returned. The next driver repeats it from the recorded steps.
    control.throwIfStopped();
    return checkResult(persona, returned);
  }

  #context(workspace: Workspace, steps: StepRecorder): WorkContext {
    const { log, onText, checks } = this.#drive;
    const { brief, context, notes, persona, contract } = this.#work;
    const { attempt } = this.#running;
    return {
      brief,
      context,
      persona,
      notes,
      contract,
      signal: this.#signal,
      conversation: conversationOf(attempt, this.#running.persona.attempts),
      settings: attempt.settings,
      failures: this.#reasons.map(({ error }) => fromErrorJson(error)),
      workspace,
      files: workspace,
      step: steps.step,
      runStep: steps.runStep,
      runCheck: (name, signal) => {
        const check = contract.checks.find((declared) => declared.name === name);
        if (check === undefined) throw new InputInvalid(`The contract has no check "${name}".`);
        return checkWorkspace(check, workspace, checks, signal);
      },
      sleep: steps.sleep,
      progress: () => this.#watchdog.progress(),
      during: (work) => this.#watchdog.during(work),
      onText: (delta) => {
        this.#watchdog.progress();
        onText(persona, delta);
      },
      log: (message) => {
        this.#watchdog.progress();
        log(persona, message);
      },
    };
  }

  #validate(result: PersonaResult, workspace: Workspace, steps: StepRecorder): Promise<CheckResult[]> {
    const { checks, control } = this.#drive;
    return this.#watchdog.during(() =>
      validate(this.#work.contract, result, workspace, steps, checks, control.signal),
    );
  }

  async #heal(
    failure: Failure,
    result: PersonaResult | undefined,
    workspace: Workspace,
    steps: StepRecorder,
  ) {
    const { heal } = await import("./healing/heal.ts");
    const { healers, contract, model, fallbackModels, policy, maxTimeoutMs, outputTokens } = this.#work;
    const { hasProgressed } = this.#running;
    const { settings } = this.#running.attempt;
    const { control, clock, place } = this.#drive;
    const sick = {
      failure,
      earlier: this.#reasons,
      hasProgressed,
      checks: this.#checks,
      result,
      contract,
      workspace,
      settings,
      model: settings.model ?? model,
      fallbackModels,
      timeoutMs: settings.timeoutMs ?? this.#work.timeoutMs,
      maxTimeoutMs,
      outputTokens: outputTokens && {
        ...outputTokens,
        limit: settings.maxOutputTokens ?? outputTokens.limit,
      },
      mayWrite: writeRule(policy),
      runTool: (argv: readonly string[]) => place.runTool(workspace, argv, control.signal),
      installPackage: async (name: string, fromFolder: string) => {
        const { installPackage } = await import("./healing/install-package.ts");
        return installPackage(workspace, name, fromFolder);
      },
    };
    return heal(healers, sick, {
      steps,
      clock,
      validateAgain: (again) => this.#validate(again, workspace, steps),
      stopUnlessFailed: (error) => stopOrBreak(control, steps, error),
    });
  }

  async #save(
    workspace: Workspace,
    steps: StepRecorder,
  ): Promise<Pick<AttemptEnd, "tree" | "artifacts" | "savings">> {
    const savings = steps.takeSavings();
    if (workspace.tree === this.#began) return { tree: this.#running.attempt.tree, artifacts: [], savings };
    return { ...(await workspace.save().catch(infrastructureFailed)), savings };
  }
}

/** An error that must not be retried must not be healed either. */
function isFinal(error: unknown): boolean {
  return MaestroError.is(error) && (error.next === "fail" || error.next === "park");
}

/** A stop or an infrastructure failure is not a failure of the work. */
function stopOrBreak(control: Control, steps: StepRecorder, error: unknown): void {
  if (control.stopped !== undefined) throw control.stopped;
  steps.throwIfInfrastructureFailed();
  if (error instanceof InfrastructureFailure) throw error;
}
