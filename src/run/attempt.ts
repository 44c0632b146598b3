import { setImmediate as endOfTurn } from "node:timers/promises";
import type { CheckResult } from "../domain/contract.ts";
import { fromErrorJson } from "../domain/error-json.ts";
import { InputInvalid, MaestroError, SetupFailed } from "../domain/errors.ts";
import type { Failure } from "../domain/failure.ts";
import type { AttemptSettings, Healed } from "../domain/healing-action.ts";
import type { Saving } from "../domain/ledger.ts";
import { type ProtectedChange, type PutBack, putBackOf } from "../domain/put-back.ts";
import { redact } from "../domain/redact.ts";
import type { RetryPolicy } from "../domain/retry-policy.ts";
import { changesBetween, emptyTree, type Tree } from "../domain/tree.ts";
import { isInstalled } from "../domain/tree-path.ts";
import { conversationOf } from "../journal/conversation.ts";
import { happenedBefore } from "../journal/effect.ts";
import type { PersonaResult, RecordedFailure } from "../journal/journal.ts";
import { notesFor } from "../journal/person-note.ts";
import type { WorkContext } from "../personas/function.ts";
import { refuseForbidden, writeRule } from "../personas/tools/tool-runner.ts";
import type { LayerPart } from "../workspace/layers/layer.ts";
import type { Protection } from "../workspace/protection.ts";
import { loadTree } from "../workspace/stored-tree.ts";
import { Workspace } from "../workspace/workspace.ts";
import type { ActiveAttempt } from "./active-attempt.ts";
import { attachedFiles } from "./attached-files.ts";
import { type Control, InfrastructureFailure, infrastructureFailed, orAbandon, Watchdog } from "./control.ts";
import type { PersonaDrive } from "./drive.ts";
import { LiveText } from "./live-text.ts";
import { lostCalls } from "./lost-calls.ts";
import { checkResult } from "./persona-result.ts";
import type { PersonaWork } from "./persona-work.ts";
import { StepRecorder } from "./step.ts";
import { owningStrayErrors, strayError } from "./stray-errors.ts";
import { checkWorkspace, refuseUnfulfilled, validate } from "./validate.ts";

/** How an attempt ended, with the files it left. */
export type AttemptEnd = {
  readonly tree: string | undefined;
  readonly artifacts: readonly string[];
  readonly savings: readonly Saving[] | undefined;
  readonly checks: readonly CheckResult[];
  readonly healing: readonly Healed[];
  readonly putBack: PutBack | undefined;
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
  readonly #drive: PersonaDrive;
  readonly #work: PersonaWork;
  readonly #running: ActiveAttempt;
  readonly #reasons: readonly RecordedFailure[];
  readonly #repeats: RetryPolicy | undefined;
  /** Aborted when the attempt stands still or its code leaves an error that nothing handles. */
  readonly #ended = new AbortController();
  readonly #signal: AbortSignal;
  readonly #watchdog: Watchdog;
  #checks: readonly CheckResult[] = [];
  #began: Tree = emptyTree;
  /** Set while the persona's work runs. */
  #fail: ((error: unknown) => void) | undefined;
  #protection: Promise<Protection> | undefined;
  readonly #putBack: ProtectedChange[] = [];

  constructor(
    drive: PersonaDrive,
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
    this.#signal = AbortSignal.any([drive.control.signal, this.#ended.signal]);
    this.#watchdog = new Watchdog(drive.clock, running.attempt.settings.timeoutMs ?? work.timeoutMs);
  }

  async run(): Promise<AttemptEnd> {
    const { artifacts } = this.#drive;
    // The files that the attempt began with. Replayed steps apply their changes again.
    const tree = await this.#load(this.#running.attempt.tree);
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
      return await owningStrayErrors(
        (error) => this.#strayed(error),
        () => this.#end(workspace, steps),
      );
    } finally {
      steps.end();
    }
  }

  #load(tree: string | undefined): Promise<Tree> {
    if (tree === undefined) return Promise.resolve(emptyTree);
    return loadTree(this.#drive.artifacts, tree).catch(infrastructureFailed);
  }

  async #end(workspace: Workspace, steps: StepRecorder): Promise<AttemptEnd> {
    const { control, clock } = this.#drive;
    const { persona, healers } = this.#work;
    let result: PersonaResult | undefined;
    try {
      result = await this.#perform(workspace, steps);
      refuseForbidden(persona, this.#work.policy, this.#began, workspace);
      const full = await this.#restoreProtected(workspace, this.#began);
      if (full !== undefined) throw full;
      this.#checks = await this.#validate(result, workspace, steps);
      refuseUnfulfilled(persona, this.#checks);
      return {
        kind: "completed",
        result,
        healing: [],
        checks: this.#checks,
        putBack: putBackOf(this.#putBack),
        ...(await this.#save(workspace, steps)),
      };
    } catch (thrown) {
      stopOrBreak(control, steps, thrown);
      const error =
        this.#forbidden(workspace) ?? (await this.#restoreProtected(workspace, this.#began)) ?? thrown;
      // Loaded at the first failure: a clean start does not pay for it.
      const { classifyError } = await import("./failure/classify-error.ts");
      const failure = classifyError(error, clock.now());
      const healing =
        healers.length === 0 || isFinal(error)
          ? { tried: [], mended: false }
          : await this.#heal(failure, result, workspace, steps);
      const left = { ...(await this.#save(workspace, steps)), putBack: putBackOf(this.#putBack) };
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

  /** However the work or a healer wrote: protected files are as they were before the checks run. */
  async #restoreProtected(workspace: Workspace, since: Tree): Promise<InputInvalid | undefined> {
    const { base, tree } = this.#running.attempt;
    if (workspace.tree === this.#began && base === tree) return undefined;
    const protection = await this.#protect();
    try {
      this.#putBack.push(...(await protection.putBack(workspace, since)));
      return undefined;
    } catch (error) {
      if (!InputInvalid.is(error)) return infrastructureFailed(error);
      // The work filled the workspace up to its limits, so that there is no room for what it removed.
      workspace.reapply(changesBetween(workspace.tree, this.#began));
      return error;
    }
  }

  /** Loaded when files change: most attempts of code write none. */
  #protect(): Promise<Protection> {
    this.#protection ??= this.#loadProtection();
    return this.#protection;
  }

  async #loadProtection(): Promise<Protection> {
    const { base, rules } = this.#work.protection;
    const { attempt } = this.#running;
    const { Protection } = await import("../workspace/protection.ts");
    const found = attempt.base === attempt.tree ? this.#began : await this.#load(attempt.base);
    const files = base === attempt.base ? found : await this.#load(base);
    return new Protection(files, found, rules(), this.#drive.artifacts);
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
        // A rejection that nothing handles is reported at the end of the turn, and belongs to this attempt.
        await endOfTurn();
      }
    };
    const returned = await workspace.lend(async () => {
      const strayed = new Promise<never>((_, reject) => {
        this.#fail = reject;
      });
      const abandonable = Promise.race([orAbandon(work, control.signal, clock), strayed]);
      try {
        return await this.#watchdog.watch(abandonable, (reason) => this.#ended.abort(reason));
      } finally {
        this.#fail = undefined;
        steps.endWork();
        // Abandoned steps are recorded, and their changes are removed while they can still be identified.
        await steps.settle();
        steps.throwIfInfrastructureFailed();
        steps.throwIfUnsettled();
      }
    });
    // A persona may have caught the stop and returned. The next driver repeats it from the recorded steps.
    control.throwIfStopped();
    return checkResult(persona, returned);
  }

  /** The work has failed, even if it would return. After its end an error can only be reported. */
  #strayed(cause: unknown): void {
    const { persona } = this.#work;
    const error = strayError(persona, cause);
    if (this.#fail === undefined) return this.#drive.log(persona, redact(error.message));
    this.#ended.abort(error);
    this.#fail(error);
  }

  #context(workspace: Workspace, steps: StepRecorder): WorkContext {
    const { log, onText, checks } = this.#drive;
    const { brief, guide, context, notes, phase, persona, contract } = this.#work;
    const { attempt } = this.#running;
    const conversation = conversationOf(attempt, this.#running.persona.attempts);
    const text = new LiveText((shown) => onText(persona, shown));
    return {
      brief,
      guide,
      context,
      persona,
      notes: [...notes, ...notesFor(this.#drive.journal.state, attempt.phase, conversation.started)],
      contract,
      signal: this.#signal,
      conversation,
      putBack: conversation.putBack,
      effects: happenedBefore(this.#drive.journal.state.effects, attempt, conversation.started),
      settings: attempt.settings,
      failures: this.#reasons.map(({ error }) => fromErrorJson(error)),
      layers: () => this.#watchdog.during(() => this.#layers(workspace)),
      workspace,
      files: workspace,
      attached: () => attachedFiles(this.#drive).catch(infrastructureFailed),
      step: steps.step,
      runStep: text.endingWith(steps.runStep),
      lostCalls: lostCalls(this.#drive.journal, { phase, persona, started: conversation.started }),
      refuseProtected: async (since) => (await this.#protect()).refuse(workspace, since),
      putBackProtected: async (since) => (await this.#protect()).putBack(workspace, since),
      keepText: (text) => this.#drive.artifacts.put(text).catch(infrastructureFailed),
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
        text.add(delta);
      },
      // Code without types may log anything.
      log: (message: unknown) => {
        this.#watchdog.progress();
        log(persona, redact(String(message)));
      },
    };
  }

  /** Packages that the persona named and that cannot be installed are missing; its checks say why. */
  async #layers(workspace: Workspace): Promise<readonly LayerPart[]> {
    const { layersFor } = this.#drive;
    if (layersFor === undefined) return [];
    await workspace.save();
    return layersFor(workspace.tree, this.#signal).catch((error: unknown) => {
      if (SetupFailed.is(error)) return [];
      throw error;
    });
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
    const [mayWrite, protection] = [writeRule(policy), await this.#protect()];
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
      // Whether a package may be installed is judged by what it is, not by its path.
      mayWrite: (path: string) =>
        mayWrite(path) && (isInstalled(path) || protection.whyWhole(path) === undefined),
      runTool: (argv: readonly string[]) => place.runTool(workspace, argv, control.signal),
      installPackage: async (name: string, fromFolder: string) => {
        const { installPackage } = await import("./healing/install-package.ts");
        return installPackage(workspace, name, fromFolder);
      },
    };
    return heal(healers, sick, {
      steps,
      clock,
      putBack: async (since) => {
        const full = await this.#restoreProtected(workspace, since);
        if (full !== undefined) throw full;
      },
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
