import { answerCutShort } from "../cost/budget-exceeded.ts";
import { fromErrorJson } from "../domain/error-json.ts";
import { InputInvalid } from "../domain/errors.ts";
import { withMoreRoom } from "../domain/fit-output.ts";
import { type Json, parseJson } from "../domain/json.ts";
import type { ReservationId, Saving } from "../domain/ledger.ts";
import { type Spend, totalTokens } from "../domain/usage.ts";
import type { RunStep } from "../journal/durable-step.ts";
import type { Entry, RecordedRow, StepKind, StepOutcome, Transition } from "../journal/journal.ts";
import { NewStepRow, parseBody, plainResult, sentBody } from "../journal/journal-codec.ts";
import { type StepIdentity, stepRowKinds } from "../journal/recorded-step.ts";
import { repeatOf, StepIdentities } from "../journal/recorded-steps.ts";
import type { PersonaContext, StepOptions } from "../personas/function.ts";
import type { ShrunkOutput } from "../store/journal.ts";
import type { Effects } from "../store/store.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { ActiveAttempt } from "./active-attempt.ts";
import { type Admitted, admitCall, type CallingAttempt, decideRepeat, effectsOf } from "./admission.ts";
import { Infrastructure, InfrastructureFailure, Pending, type Watchdog } from "./control.ts";
import type { PersonaDrive } from "./drive.ts";
import { rememberFailure } from "./failure/recorded-failure.ts";
import { OnceEffects, onceOf } from "./once-effects.ts";
import { SentCalls } from "./sent-calls.ts";
import { EffectRunner, type Performed, type StepToRun } from "./step-effect.ts";
import { type FoundStep, StepFinder } from "./step-finder.ts";
import { StepSavings } from "./step-savings.ts";
import { refuseWait, StepWaits, waitOf } from "./step-waits.ts";

/** The name of the wait before a call is repeated. */
const repeatName = "repeat after an outage";

/** One attempt, as its steps see it. */
export interface AttemptPlace extends CallingAttempt {
  readonly running: ActiveAttempt;
  /** Fingerprint of everything the persona reads. */
  readonly input: string;
  readonly workspace: Workspace;
  readonly watchdog: Watchdog;
  /** Aborted when the drive has to stop at once, or the attempt has stood still for too long. */
  readonly signal: AbortSignal;
}

/**
 * The durable steps of one attempt. A step is found on record; or it is admitted (money, then breaker), its effect runs,
 * its row is appended in one commit with its settlement and the breaker's outcome, and then both are notified.
 */
export class StepRecorder {
  readonly #drive: PersonaDrive;
  readonly #place: AttemptPlace;
  readonly #infrastructure = new Infrastructure();
  readonly #identities: StepIdentities;
  readonly #finder: StepFinder;
  readonly #effects: EffectRunner;
  readonly #once: OnceEffects;
  readonly #waits: StepWaits;
  /** The step that an error came from. */
  readonly #failures = new WeakMap<object, number>();
  readonly #pending = new Pending();
  readonly #savings: StepSavings;
  readonly #sent: SentCalls;
  readonly #unfollow: () => void;
  #isWorkOver = false;

  constructor(drive: PersonaDrive, place: AttemptPlace) {
    const { journal, control } = drive;
    this.#drive = drive;
    this.#place = place;
    this.#savings = new StepSavings(place.running.of);
    this.#identities = new StepIdentities(place.input);
    this.#finder = new StepFinder(journal, control, this.#infrastructure, place.running);
    this.#once = new OnceEffects(drive, place, this.#finder, this.#infrastructure);
    this.#waits = new StepWaits(drive, place, this.#finder, this.#infrastructure);
    this.#sent = new SentCalls((text) => this.#infrastructure.run(drive.artifacts.put(text)));
    this.#unfollow = drive.waiter.follow(this.#pending);
    this.#effects = new EffectRunner(drive, place.workspace, place.signal, this.#infrastructure);
  }

  /** `ctx.step` of a function persona. */
  readonly step: PersonaContext["step"] = (name, effect, options = noOptions) => {
    const { input = null, dependency } = options;
    if (options.effect !== undefined) return this.#stepWith(name, effect, options);
    return this.#refuseLate(name) ?? this.perform({ kind: "function", name, input, dependency, effect });
  };

  async #stepWith<T>(name: string, effect: () => T | Promise<T>, options: StepOptions): Promise<T> {
    const { input = null, dependency } = options;
    const once = onceOf<T>(name, options);
    return (
      this.#refuseLate(name) ?? this.perform<T>({ kind: "function", name, input, dependency, once, effect })
    );
  }

  /** The steps of a model, a tool or an agent. */
  readonly runStep: RunStep = (step) => this.#refuseLate(step.name) ?? this.perform(step);

  /** A wait that survives restarts: only the remainder is waited, never longer than `ms` whatever the clock does. */
  readonly sleep = (ms: number): Promise<void> => this.#refuseLate("sleep") ?? this.#sleep(ms);

  /** A step of any kind; checks and healers still come when the work is over. */
  perform<T>(step: StepToRun<T>): Promise<T> {
    try {
      const found = this.#find(step.kind, step.name, step.input, step.once !== undefined);
      if (found instanceof Promise || found.body === undefined)
        return this.#pending.track(this.#perform(step, found));
      const replayed = this.#replayFound(step, found, found.body);
      if (replayed instanceof Promise) return this.#pending.track(replayed as Promise<T>);
      // Most of a long history: no promise but that of the result.
      this.#pending.noteReplay();
      return Promise.resolve(replayed as T);
    } catch (error) {
      // Tracked: a rejected step that the work does not await must not end the process.
      return this.#pending.track(Promise.reject(error as Error));
    }
  }

  async #perform<T>(asked: StepToRun<T>, finding: FoundStep | Promise<FoundStep>): Promise<T> {
    const { kind, name } = asked;
    const { clock, control, journal, onStep } = this.#drive;
    const { running, signal } = this.#place;
    const found = finding instanceof Promise ? await finding : finding;
    if (found.body !== undefined) return this.#replayFound(asked, found, found.body) as T;
    const { identity } = found;
    const recalled = asked.once === undefined ? undefined : await this.#once.recall(asked, identity);
    if (recalled !== undefined) return this.#replay(recalled.body, recalled.seq) as T;
    const mayReuse = running.earlier !== undefined && asked.once === undefined;
    const reused = mayReuse ? await this.#reuse(asked, identity) : undefined;
    if (reused !== undefined) return this.#replay(reused.body, reused.seq) as T;
    const step = asked.asks === undefined ? asked : await this.#waits.forPerson(asked, asked.asks, identity);
    // Stored before the call is made, so that a full disk costs nothing.
    const sending = kind === "model" ? await this.#sent.send(step) : undefined;
    const askedAt = clock.now();
    for (
      let repeats = this.#place.repeats === undefined ? 0 : await this.#waits.repeatsBefore(identity);
      ;
    ) {
      // Back-pressure: sessions must not begin more steps than the store can record.
      const room = journal.store.waitForRoom();
      if (room !== undefined) await room;
      // It may have been stopped while it waited.
      control.throwIfStopped();
      // Awaited even where there is nothing to ask: no effect begins before the work that asked for it has continued.
      // Else the order of steps, which tells them apart, would depend on what else is under way.
      const admitted = await this.#admit(step, identity);
      onStep?.(running.of.persona, kind, name);
      const begun = step.once === undefined ? undefined : await this.#once.begin(step, identity);
      const performed =
        begun === undefined
          ? await this.#run(step, admitted)
          : await this.#once.run(begun, () => this.#run(begun.step, admitted));
      if (sending !== undefined) {
        const beside = { allowedOutput: admitted.shrunk?.output, timing: step.timing?.() };
        performed.body = sentBody(performed.body, sending.sent, beside);
        performed.artifacts = [...performed.artifacts, ...sending.artifacts];
      }
      const { failure } = performed;
      const isPlain = admitted === notAdmitted && performed.artifacts.length === 0;
      const effects = isPlain ? noEffects : effectsOf(admitted, performed);
      if (performed.isCut && admitted.shrunk !== undefined)
        return await this.#parkCut(step, identity, admitted.shrunk, effects);
      if (performed.overBudget !== undefined)
        return this.#append([], effects).then(() => this.#infrastructure.failed(performed.overBudget));
      if (begun !== undefined && failure !== undefined && !begun.didNotHappen)
        return this.#once.failed(begun, failure.message, effects);
      const settled = begun && this.#once.settled(begun, failure === undefined);
      // Not of a healer: the next attempt asks it anew. Nor of an effect with steps of its own: those would run again.
      if (failure !== undefined && kind !== "heal" && !performed.hasSteps && !signal.aborted) {
        const { isEarlyProbe } = admitted;
        const now = clock.now();
        // An earlier driver may have asked first.
        const waitedMs = now - Math.min(askedAt, running.waitsSince ?? askedAt);
        const call = { failure, isEarlyProbe, effects, waitedMs, repeats };
        const again = decideRepeat(call, this.#place, now);
        if (again === "admission") {
          await this.#append(settled === undefined ? [] : [settled], effects);
          continue;
        }
        if (again !== undefined) {
          repeats += 1;
          const wait = this.#waits.from(again.notBefore, again.waitMs);
          const body = JSON.stringify({ wait, because: failure.message });
          await this.#record("wait", repeatName, repeatOf(identity, repeats), body, effects, settled);
          await this.#waits.pass(wait, "step");
          continue;
        }
      }
      const { body, text, stack, saved, isNothing } = performed;
      if (saved !== undefined) this.#savings.add(saved);
      const seq = isNothing ? 0 : await this.#record(kind, name, identity, body, effects, settled);
      if (sending !== undefined) this.#sent.recorded(identity.fingerprint, sending, body);
      if (text !== undefined) return text as T;
      // Through the record, like a replay: a live run must not see more than a replay will.
      return this.#outcome(parseBody(body) as unknown as StepOutcome, seq, stack) as Promise<T>;
    }
  }

  #find(kind: StepKind, name: string, input: Json, isOnce: boolean): FoundStep | Promise<FoundStep> {
    const identity = this.#identities.next(kind, name, input, isOnce);
    this.#drive.control.beginStep();
    this.#infrastructure.throwIfFailed();
    this.#place.watchdog.progress();
    this.#place.workspace.recordings.noteStep();
    const { steps } = this.#place.running;
    const { fingerprint, occurrence } = identity;
    const recorded = steps.find(stepRowKinds[kind], fingerprint, occurrence);
    if (recorded !== undefined) return this.#finder.serve(recorded, kind, name, identity);
    steps.miss(stepRowKinds[kind], name, fingerprint);
    return { identity, body: undefined, seq: 0 };
  }

  /** Too long a wait and a spent budget end the drive, not the attempt: it resumes from here. */
  #admit<T>(
    { dependency, spend }: StepToRun<T>,
    { fingerprint }: StepIdentity,
  ): Promise<Admitted> | Admitted {
    if (dependency === undefined && spend === undefined) return notAdmitted;
    const cutAt = this.#place.running.cutAt(fingerprint);
    const call = { dependency, spend: spend && withMoreRoom(spend as Spend<never>, cutAt) };
    const { running, watchdog } = this.#place;
    const { waiter } = this.#drive;
    const admitted = admitCall(this.#drive, running.attempt, call, (waitMs, work) =>
      watchdog.during(() => (waitMs === undefined ? work() : waiter.during(waitMs, work, "step"))),
    );
    return this.#infrastructure.run(admitted);
  }

  #run<T>(step: StepToRun<T>, { use, reservation, shrunk }: Admitted): Promise<Performed> {
    const run = () => this.#effects.run(step, shrunk?.output);
    const running = use === undefined ? run() : this.#drive.breaker.attend(use, run);
    return reservation === undefined ? running : running.catch((error) => this.#giveUp(reservation, error));
  }

  /** The answer is paid for and of no use. The attempt is not used up: the call is made again when there is more room. */
  async #parkCut<T>(
    { name }: StepToRun<T>,
    { fingerprint }: StepIdentity,
    { output, short }: ShrunkOutput,
    effects: Effects,
  ): Promise<never> {
    const { started, phase, persona } = this.#place.running.of;
    const row = { kind: "call.cut", started, phase, persona, model: name, fingerprint, output } as const;
    await this.#append([row], effects);
    const { sessionId } = this.#drive.journal.lease;
    return this.#infrastructure.failed(answerCutShort(sessionId, output, short, effects.settlement?.spent));
  }

  /** Nothing of the call is recorded, except what it may have cost. */
  async #giveUp(reservation: ReservationId, error: unknown): Promise<never> {
    const settlement = { reservation, spent: { usage: null, costMicroUsd: null }, failed: true };
    // A driver that has lost the session leaves this to the next one.
    await this.#drive.journal.append([], { settlement }).catch(() => undefined);
    throw error;
  }

  /** Returns the seq of the row. `more`: a row that follows it in the same commit. */
  #record(
    kind: StepKind,
    name: string,
    identity: StepIdentity,
    body: string,
    effects = noEffects,
    more?: Transition,
  ) {
    const row = new NewStepRow(kind, this.#place.running.of.started, name, identity, body);
    const savings = this.#savings.isEmpty ? undefined : this.#savings.take();
    const rows = more === undefined ? [row] : [row, more];
    return this.#append(rows, savings === undefined ? effects : { ...effects, savings });
  }

  /** One commit for the row, its settlement and the breaker's outcome; then both are notified. Returns the seq of the row. */
  #append(rows: readonly Entry[], effects: Effects): Promise<number> {
    // No promise of its own for `Infrastructure.run`: thousands of steps may wait here at a time.
    const recorded = this.#drive.journal
      .append(rows, effects)
      .then(this.#recorded, this.#infrastructure.failed);
    const isOwn = effects.settlement === undefined && effects.call === undefined;
    return isOwn ? recorded : this.#tell(recorded, effects);
  }

  readonly #recorded = (rows: readonly RecordedRow[]): number => {
    this.#place.watchdog.progress();
    return rows[0]?.seq ?? 0;
  };

  async #tell(recording: Promise<number>, { settlement, call }: Effects): Promise<number> {
    const { spending, breaker } = this.#drive;
    const recorded = await recording;
    if (settlement !== undefined)
      await this.#infrastructure.run(spending.settled(this.#place.running.attempt));
    if (call !== undefined) await this.#infrastructure.run(breaker.ended(call.use, call.outcome));
    return recorded;
  }

  #replayFound<T>(step: StepToRun<T>, { seq, identity }: FoundStep, body: string): unknown {
    if (step.spend !== undefined) this.#savings.replayed(seq);
    if (step.kind === "model") this.#sent.replayed(step, identity.fingerprint, body);
    return this.#replay(body, seq);
  }

  #replay(body: string, seq: number): unknown {
    const text = plainResult(body);
    if (text !== undefined) return text;
    const outcome = parseBody(body) as unknown as StepOutcome;
    if (outcome.changes !== undefined) this.#place.workspace.reapply(outcome.changes);
    // At once, as most are: a long history is replayed in one go.
    if ("result" in outcome) return outcome.result;
    return this.#finder.replaying(() => this.#outcome(outcome, seq));
  }

  async #outcome(outcome: StepOutcome, seq: number, stack?: string): Promise<unknown> {
    if ("result" in outcome) return outcome.result;
    if ("artifact" in outcome)
      return parseJson(await this.#infrastructure.run(this.#drive.artifacts.get(outcome.artifact)));
    if (!("error" in outcome)) return undefined;
    const error = fromErrorJson(outcome.error);
    if (stack !== undefined) Object.defineProperty(error, "stack", { value: stack });
    if (outcome.failure !== undefined) rememberFailure(error, outcome.failure);
    this.#failures.set(error, seq);
    throw error;
  }

  /** A fork does not pay again for a call that its parent recorded, nor a new attempt for one of an outdated attempt. */
  async #reuse<T>(
    { kind, name, input, spend }: StepToRun<T>,
    identity: StepIdentity,
  ): Promise<{ body: string; seq: number } | undefined> {
    const { leftover } = this.#place.running.earlier ?? {};
    const { fingerprint, occurrence } = identity;
    const taken = this.#place.running.candidate?.find(stepRowKinds[kind], fingerprint, occurrence);
    const step = taken ?? leftover?.find(stepRowKinds[kind], fingerprint, occurrence);
    if (step === undefined || step.outage || kind === "wait") return undefined;
    const { store, lease } = this.#drive.journal;
    const body = await this.#infrastructure.run(store.readBody(lease.sessionId, step.seq));
    const outcome = parseBody(body) as unknown as StepOutcome;
    if (taken === undefined && "error" in outcome) return undefined;
    if (spend !== undefined && "result" in outcome) {
      const { usage, costMicroUsd: microUsd } = await spend.spent({ result: outcome.result as T });
      if (usage !== null)
        this.#savings.add({ kind: "reuse", model: spend.model, tokens: totalTokens(usage), microUsd });
    }
    this.#sent.replayed({ kind, input }, fingerprint, body);
    return { body, seq: await this.#record(kind, name, identity, body) };
  }

  async #sleep(ms: number): Promise<void> {
    refuseWait(ms);
    const found = await this.#find("wait", "sleep", ms, false);
    let wait = this.#waits.from(this.#drive.clock.now() + ms, ms);
    if (found.body !== undefined) wait = waitOf(found.body);
    else await this.#record("wait", "sleep", found.identity, JSON.stringify({ wait }));
    await this.#waits.pass(wait, "work");
  }

  /** The amounts saved since the last row. */
  takeSavings(): readonly Saving[] | undefined {
    return this.#savings.take();
  }

  /** The seq of the step that threw this very error, if one did. */
  failedStep(error: unknown): number | undefined {
    return typeof error === "object" && error !== null ? this.#failures.get(error) : undefined;
  }

  throwIfInfrastructureFailed(): void {
    this.#infrastructure.throwIfFailed();
  }

  /** An attempt must not end before the outcomes of its effects are known. */
  throwIfUnsettled(): void {
    const left = this.#drive.journal.state.effects.size === 0 ? undefined : this.#once.leftUnsettled();
    if (left !== undefined) throw new InfrastructureFailure(left);
  }

  /** The work has ended, or was abandoned and may still run: steps that it asks for from now on are refused. */
  endWork(): void {
    this.#isWorkOver = true;
  }

  #refuseLate(name: string): Promise<never> | undefined {
    if (!this.#isWorkOver) return undefined;
    const late = new InputInvalid(`Step "${name}" was called after its attempt had ended.`, {
      advice: "Await every step, and stop when the signal is aborted.",
    });
    return Promise.reject(late);
  }

  /** The attempt has ended. */
  end(): void {
    this.#unfollow();
    this.#effects.stopListening();
  }

  /** Steps under way are finished and recorded before their attempt ends, however that ends. */
  settle(): Promise<void> {
    return this.#pending.settle();
  }
}

const noOptions: StepOptions = {};
const noEffects: Effects = {};
const notAdmitted: Admitted = { use: undefined, reservation: undefined, isEarlyProbe: false };
