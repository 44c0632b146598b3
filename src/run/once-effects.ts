import { DidNotHappen, EffectUnknown, InputInvalid } from "../domain/errors.ts";
import { isoTime } from "../domain/iso-time.ts";
import { redact } from "../domain/redact.ts";
import type { Once, Probed } from "../journal/durable-step.ts";
import { type EffectState, type EqualCall, equalEffect, unsettledIn } from "../journal/effect.ts";
import type { StepKind, Transition } from "../journal/journal.ts";
import { artifactBody, NewStepRow, resultBody, resultIn } from "../journal/journal-codec.ts";
import type { StepIdentity } from "../journal/recorded-step.ts";
import { settleAdvice } from "../journal/settle-advice.ts";
import type { HostedStepOptions } from "../personas/function.ts";
import { isProvedDead, processIdentity } from "../store/owner.ts";
import type { Effects } from "../store/store.ts";
import type { ActiveAttempt } from "./active-attempt.ts";
import { type Infrastructure, orAbandon } from "./control.ts";
import type { PersonaDrive } from "./drive.ts";
import { inlineLimit, type StepToRun } from "./step-effect.ts";
import type { StepFinder } from "./step-finder.ts";

/** Why a once effect of this step may not begin, or its earlier result. */
export interface RecalledStep {
  readonly body: string;
  readonly seq: number;
}

/** An effect whose intent is recorded. */
export class BegunEffect<T> {
  readonly intent: number;
  readonly name: string;
  readonly step: StepToRun<T>;
  /** It threw `DidNotHappen`. */
  didNotHappen = false;
  /** It gave a result, which may be one that cannot be recorded. */
  hasReturned = false;

  constructor(intent: number, step: StepToRun<T>) {
    this.intent = intent;
    this.name = step.name;
    this.step = { ...step, effect: (allowedOutput) => this.#watch(() => step.effect(allowedOutput)) };
  }

  async #watch(effect: () => T | Promise<T>): Promise<T> {
    try {
      const result = await effect();
      this.hasReturned = true;
      return result;
    } catch (error) {
      this.didNotHappen = DidNotHappen.is(error);
      throw error;
    }
  }
}

/**
 * The steps of one attempt whose effects must not be repeated in silence. An intent commits before the effect begins. An
 * intent without an outcome ends the drive, unless the step's probe knows the outcome: the attempt is not used up, and
 * a person says how the effect ended.
 */
export class OnceEffects {
  readonly #drive: PersonaDrive;
  readonly #running: ActiveAttempt;
  readonly #signal: AbortSignal;
  readonly #finder: StepFinder;
  readonly #infrastructure: Infrastructure;
  /** Intents of this attempt in this process: their effects are under way. */
  readonly #own = new Set<number>();

  constructor(
    drive: PersonaDrive,
    { running, signal }: { readonly running: ActiveAttempt; readonly signal: AbortSignal },
    finder: StepFinder,
    infrastructure: Infrastructure,
  ) {
    this.#drive = drive;
    this.#running = running;
    this.#signal = signal;
    this.#finder = finder;
    this.#infrastructure = infrastructure;
  }

  /** The recorded result of an equal effect, recorded for this attempt too. Undefined: the effect may begin. */
  async recall<T>(step: StepToRun<T>, identity: StepIdentity): Promise<RecalledStep | undefined> {
    const call = this.#callOf(step, identity);
    const effect = equalEffect(this.#drive.journal.state.effects, call);
    switch (effect?.outcome.kind) {
      case "happened":
        return this.#take(step, identity, effect);
      case "open":
      case "unknown":
        return this.#finder.replaying(() => this.#probe(step, identity, effect));
      case "did-not-happen":
      case undefined:
        await this.#refuseStrangers(call);
        return undefined;
    }
  }

  /** Commits the intent. */
  async begin<T>(step: StepToRun<T>, identity: StepIdentity): Promise<BegunEffect<T>> {
    const { journal, control } = this.#drive;
    const processes = [processIdentity(), ...(step.once?.processes?.() ?? [])];
    const call = step.once?.call;
    const row = {
      kind: "effect.intended",
      name: step.name,
      step: intendedKind(step.kind),
      ...identity,
      ...(call !== undefined && { call }),
      processes,
      ...this.#running.of,
    } as const;
    const [intended] = await this.#infrastructure.run(journal.append([row]));
    const intent = intended?.seq as number;
    this.#own.add(intent);
    const begun = new BegunEffect(intent, step);
    // Stopped while the intent was written: the effect is known not to have begun.
    if (control.stopped !== undefined || this.#signal.aborted) {
      await this.#infrastructure.run(journal.append([this.settled(begun, false, "driver")]));
      control.throwIfStopped();
      this.#signal.throwIfAborted();
    }
    return begun;
  }

  /** An abort leaves the outcome unknown, unless the effect itself said that it did not happen. */
  async run<T, R>(begun: BegunEffect<T>, run: () => Promise<R>): Promise<R> {
    try {
      return await run();
    } catch (error) {
      if (begun.didNotHappen)
        await this.#drive.journal.append([this.settled(begun, false, "step")]).catch(() => undefined);
      throw error;
    }
  }

  settled<T>(
    { intent, name }: BegunEffect<T>,
    happened: boolean,
    by: "step" | "driver" = "step",
  ): Transition {
    return { kind: "effect.settled", intent, name, happened, by, ...this.#running.of };
  }

  /** The effect ended without a result, and did not say that it did not happen. Ends the drive. */
  async failed<T>(begun: BegunEffect<T>, thrown: string, effects: Effects): Promise<never> {
    const { intent, name, hasReturned } = begun;
    const because = hasReturned
      ? `It happened, and its result cannot be recorded: ${thrown}`
      : `It failed and may have happened: ${thrown}`;
    const error = this.#unknown(this.#drive.journal.state.effects.get(intent), because);
    const row = { kind: "effect.unknown", intent, name, because, ...this.#running.of } as const;
    await this.#infrastructure.run(this.#drive.journal.append([row], effects));
    return this.#infrastructure.failed(error);
  }

  /** For the end of the work: an effect that it did not ask for again still has no outcome. */
  leftUnsettled(): EffectUnknown | undefined {
    const { phase, persona } = this.#running.of;
    const left = unsettledIn(this.#drive.journal.state.effects).find(
      (effect) => effect.phase === phase && effect.persona === persona,
    );
    return left === undefined ? undefined : this.#unknown(left, whyOf(left));
  }

  #callOf<T>({ kind, name }: StepToRun<T>, identity: StepIdentity): EqualCall {
    const { phase, persona } = this.#running.of;
    return { phase, persona, kind, name, ...identity };
  }

  /** The result of an earlier attempt, or of a person's word, becomes a step of this attempt. */
  async #take<T>(
    { kind, name, once }: StepToRun<T>,
    identity: StepIdentity,
    effect: EffectState,
  ): Promise<RecalledStep> {
    const { journal } = this.#drive;
    const { outcome } = effect;
    if (outcome.kind !== "happened") throw new Error(`effect ${effect.seq} has no result`);
    if ("step" in outcome && outcome.step <= (journal.state.restoredSeq ?? 0))
      return this.#park(effect, "It happened, and its result was lost with the database.");
    const body =
      "step" in outcome
        ? await this.#infrastructure.run(journal.readStep(outcome.step))
        : resultBody(
            once?.resultOf === undefined ? outcome.result : once.resultOf(outcome.result, effect.call),
            name,
          );
    return { body, seq: await this.#record(kind, name, identity, body) };
  }

  /** An effect of an earlier driver or attempt has no outcome. */
  async #probe<T>(
    step: StepToRun<T>,
    identity: StepIdentity,
    effect: EffectState,
  ): Promise<RecalledStep | undefined> {
    const { seq: intent, name, processes } = effect;
    const { said, problem } = await this.#ask(step);
    const of = this.#running.of;
    if (said === undefined) return this.#park(effect, `${whyOf(effect)}${problem}`);
    if (said.happened) {
      let body: string;
      try {
        body = resultBody(said.result, name);
      } catch (error) {
        return this.#park(effect, `Its probe says that it happened, with no result: ${messageOf(error)}`);
      }
      const settled = { kind: "effect.settled", intent, name, happened: true, by: "probe", ...of } as const;
      return { body, seq: await this.#record(step.kind, name, identity, body, [settled]) };
    }
    const observer = processIdentity();
    if (!processes.every((process) => isProvedDead(process, observer))) {
      const alive = "Its probe says that it did not happen. The process that began it may still be alive";
      return this.#park(effect, `${whyOf(effect)} ${alive}, so this is not certain.`);
    }
    const settled = { kind: "effect.settled", intent, name, happened: false, by: "probe", ...of } as const;
    await this.#infrastructure.run(this.#drive.journal.append([settled]));
    return undefined;
  }

  /** A probe that fails, hangs or answers something else cannot say. */
  async #ask<T>({ once }: StepToRun<T>): Promise<{ readonly said: Probed<T>; readonly problem: string }> {
    const probe = once?.probe;
    if (probe === undefined) return { said: undefined, problem: "" };
    try {
      const said: unknown = await orAbandon(probe, this.#signal, this.#drive.clock);
      if (said === undefined || said === null) return { said: undefined, problem: " Its probe cannot say." };
      const happened: unknown = typeof said === "object" && "happened" in said ? said.happened : undefined;
      if (typeof happened === "boolean") return { said: said as Probed<T>, problem: "" };
      return { said: undefined, problem: " Its probe gave no { happened: true | false }." };
    } catch (error) {
      this.#drive.control.throwIfStopped();
      return { said: undefined, problem: ` Its probe failed: ${messageOf(error)}` };
    }
  }

  /**
   * An unsettled effect of the same name and another input, from an earlier driver: the code or the answer of the model
   * has changed, and the new call may be the old one again. Parallel steps ask in any order, so others go first.
   */
  async #refuseStrangers(call: EqualCall): Promise<void> {
    if (this.#stranger(call) === undefined) return;
    await this.#finder.othersHaveAsked();
    const stranger = this.#stranger(call);
    if (stranger !== undefined) await this.#park(stranger, whyOf(stranger));
  }

  #stranger({ phase, persona, kind, name }: EqualCall): EffectState | undefined {
    return unsettledIn(this.#drive.journal.state.effects).find(
      (effect) =>
        effect.phase === phase &&
        effect.persona === persona &&
        effect.kind === kind &&
        effect.name === name &&
        !this.#own.has(effect.seq),
    );
  }

  async #record(
    kind: StepKind,
    name: string,
    identity: StepIdentity,
    body: string,
    more: readonly Transition[] = [],
  ): Promise<number> {
    const { journal, artifacts } = this.#drive;
    const kept: string[] = [];
    let text = body;
    if (body.length > inlineLimit) {
      kept.push(await this.#infrastructure.run(artifacts.put(resultIn(body))));
      text = artifactBody(kept[0] as string);
    }
    const row = new NewStepRow(kind, this.#running.of.started, name, identity, text);
    const [recorded] = await this.#infrastructure.run(journal.append([row, ...more], { artifacts: kept }));
    return recorded?.seq as number;
  }

  /** On record, so that a person sees what is known. Ends the drive. */
  async #park(effect: EffectState, because: string): Promise<never> {
    const { seq: intent, name, outcome } = effect;
    const error = this.#unknown(effect, because);
    if (outcome.kind !== "unknown") {
      const row = { kind: "effect.unknown", intent, name, because, ...this.#running.of } as const;
      await this.#infrastructure.run(this.#drive.journal.append([row]));
    }
    return this.#infrastructure.failed(error);
  }

  #unknown(effect: EffectState | undefined, because: string): EffectUnknown {
    const { id, created } = this.#drive.journal.state;
    const { phase, persona } = this.#running.of;
    const [name, seq] = [effect?.name ?? "", effect?.seq ?? 0];
    const session = created.key ?? id;
    return new EffectUnknown(
      `The outcome of the effect "${name}" of ${persona} in phase ${phase} is unknown. ${because}`,
      {
        details: {
          phase,
          persona,
          step: seq,
          effect: name,
          message: `unknown outcome of the effect "${name}"`,
        },
        advice: settleAdvice(session, seq),
      },
    );
  }
}

/** Why the outcome of an effect is unknown. */
const whyOf = ({ outcome, at }: EffectState): string =>
  outcome.kind === "unknown" ? outcome.because : `It began at ${isoTime(at)}, and no outcome was recorded.`;

const messageOf = (error: unknown): string =>
  redact((error instanceof Error ? error.message : String(error)).slice(0, 500));

/** Models, checks and healers may be repeated. */
function intendedKind(kind: StepKind): "function" | "tool" | "command" {
  if (kind === "function" || kind === "tool" || kind === "command") return kind;
  throw new Error(`a step of kind ${kind} has no effect that must not be repeated`);
}

/** The options of `ctx.step`; code without types may pass anything. */
export function onceOf<T>(
  name: string,
  { effect, probe, processes }: HostedStepOptions,
): Once<T> | undefined {
  if (effect === "once") return { probe: probe as Once<T>["probe"], processes };
  if (effect === "repeatable") return undefined;
  throw new InputInvalid(`The effect of step "${name}" is ${JSON.stringify(effect)}.`, {
    advice: 'It must be "repeatable" or "once".',
  });
}
