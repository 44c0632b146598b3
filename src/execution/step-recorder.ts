import { fromErrorJson } from "../domain/error-json.ts";
import { InputInvalid } from "../domain/errors.ts";
import type { Entry, RecordedRow, StepKind, StepOutcome, Wait } from "../domain/journal.ts";
import { parseBody } from "../domain/journal-codec.ts";
import { type Json, parseJson } from "../domain/json.ts";
import type { Saving } from "../domain/ledger.ts";
import { stepRowKinds } from "../domain/recorded-step.ts";
import type { RecordedSteps } from "../domain/recorded-steps.ts";
import { type RetryPolicy, remainingWaitMs } from "../domain/retry-policy.ts";
import type { RunningAttempt } from "../domain/session-state.ts";
import { type Spend, type Spent, totalTokens } from "../domain/usage.ts";
import type { Artifacts } from "../state/artifacts.ts";
import type { Effects } from "../state/store.ts";
import { Abandonment } from "./abandon.ts";
import { type AdmissionParts, type Admitted, admitCall, longestWaitMs } from "./admission.ts";
import { outcomeOfCall } from "./circuit-breaker.ts";
import { rememberFailure } from "./failure/recorded-failure.ts";
import { Machine } from "./machine-error.ts";
import { NewStepRow } from "./new-step-row.ts";
import { repeatName, repeatOf, waitToRepeat } from "./repeat-in-place.ts";
import { plainResult } from "./step-body.ts";
import {
  type EffectParts,
  type EffectPlace,
  type Performed,
  runEffect,
  type StepToRun,
} from "./step-effect.ts";
import { type FoundStep, StepFinder } from "./step-finder.ts";
import type { StepIdentity } from "./step-identity.ts";
import { StepSavings } from "./step-savings.ts";
import type { Watchdog } from "./watchdog.ts";

const maxSleepMs = 366 * 24 * 3_600_000;

export interface StepOptions {
  /** What the result depends on besides the name and the persona's input. A changed input runs the step again. */
  readonly input?: Json;
  /** The service the effect calls, such as "api.example.org". While its breaker is open, the step waits. */
  readonly dependency?: string;
}

export interface StepParts extends AdmissionParts {
  readonly artifacts: Artifacts;
  /** An effect begins; for who watches. */
  readonly onStep?: (persona: string, step: StepKind, name: string) => void;
}

/** What one attempt works with. */
export interface AttemptPlace extends EffectPlace {
  readonly running: RunningAttempt;
  /** Fingerprint of everything the persona reads. */
  readonly input: string;
  readonly watchdog: Watchdog;
  /** There is another model to go on with: no use in waiting for this one. */
  readonly hasFallback: boolean;
  /**
   * How to repeat a call that an outage ended, once the attempt has done something of its own: in the last of its round,
   * which no other goes on from. Undefined in all others.
   */
  readonly repeats: RetryPolicy | undefined;
}

/** The durable steps of one attempt: each runs once, its outcome is recorded, and a replay gets the record. */
export class StepRecorder {
  readonly #parts: StepParts;
  readonly #place: AttemptPlace;
  readonly #machine = new Machine();
  readonly #abandonment: Abandonment;
  readonly #effectParts: EffectParts;
  readonly #finder: StepFinder;
  /** Which step an error came from. */
  readonly #failures = new WeakMap<object, number>();
  #underWay = 0;
  /** Since somebody last waited for all of them to be quiet. */
  #hasReplayed = false;
  readonly #onQuiet: (() => void)[] = [];
  readonly #savings: StepSavings;

  constructor(parts: StepParts, place: AttemptPlace) {
    this.#parts = parts;
    this.#place = place;
    const { journal, control, clock, artifacts } = parts;
    this.#abandonment = new Abandonment(place.signal, clock);
    this.#savings = new StepSavings(place.running.attempt);
    const [machine, abandonment] = [this.#machine, this.#abandonment];
    this.#effectParts = { control, clock, artifacts, machine, abandonment };
    this.#finder = new StepFinder({ journal, control, machine: this.#machine }, place.running, place.input);
  }

  /** The seq of the step that threw this very error, if one did. */
  failedStep(error: unknown): number | undefined {
    return typeof error === "object" && error !== null ? this.#failures.get(error) : undefined;
  }

  /** Work that caught an error of the machine below must pass neither for finished nor for failed. */
  throwIfBroken(): void {
    this.#machine.throwIfBroken();
  }

  /** The attempt has ended: nothing of it listens any longer to what would stop it. */
  end(): void {
    this.#abandonment.stopListening();
  }

  /** What is under way is finished and recorded before its attempt ends, however that ends. */
  async settle(): Promise<void> {
    while (this.#underWay > 0 || this.#hasReplayed) {
      this.#hasReplayed = false;
      await new Promise<void>((resolve) => {
        if (this.#underWay > 0) this.#onQuiet.push(resolve);
        // Whoever got a record goes on now: it may ask for the next step.
        else setImmediate(resolve);
      });
    }
  }

  /** A step of a function persona. */
  run<T>(name: string, effect: () => T | Promise<T>, options: StepOptions = noOptions): Promise<T> {
    const { input = null, dependency } = options;
    return this.perform({ kind: "function", name, input, dependency, effect });
  }

  /** A step of any kind: of a function, a model, a tool, a check or a healer. */
  perform<T>(step: StepToRun<T>): Promise<T> {
    try {
      const found = this.#find(step.kind, step.name, step.input);
      if (found instanceof Promise || found.body === undefined)
        return this.#track(this.#perform(step, found));
      const replayed = this.#replayFound(step, found.body, found.seq);
      if (replayed instanceof Promise) return this.#track(replayed as Promise<T>);
      // Most of a long history: nothing is made for it but what it gave.
      this.#hasReplayed = true;
      return Promise.resolve(replayed as T);
    } catch (error) {
      // Tracked: that nobody waits for a step must not end the process.
      return this.#track(Promise.reject(error as Error));
    }
  }

  /** A wait that survives restarts: only the remainder is waited, never longer than `ms` whatever the clock does. */
  async sleep(ms: number): Promise<void> {
    const { clock } = this.#parts;
    if (!(ms >= 0 && ms <= maxSleepMs))
      throw new InputInvalid(`A wait of ${ms} ms is not between 0 and ${maxSleepMs}.`);
    const found = await this.#find("wait", "sleep", ms);
    let wait: Wait = { notBefore: clock.now() + ms, waitMs: ms };
    if (found.body !== undefined) wait = waitOf(found.body);
    else await this.#record("wait", "sleep", found.identity, JSON.stringify({ wait }));
    await this.#waitOut(wait);
  }

  #waitOut(wait: Wait): Promise<void> {
    const { clock, control } = this.#parts;
    const { watchdog } = this.#place;
    return watchdog.during(() => clock.sleep(remainingWaitMs(wait, clock.now()), control.stopSignal));
  }

  #track<T>(step: Promise<T>): Promise<T> {
    this.#underWay += 1;
    step.then(this.#forget, this.#forget);
    return step;
  }

  readonly #forget = (): void => {
    this.#underWay -= 1;
    if (this.#underWay > 0 || this.#onQuiet.length === 0) return;
    // Whoever waited for the step goes first: it may ask for the next one.
    for (const resolve of this.#onQuiet.splice(0)) setImmediate(resolve);
  };

  async #perform<T>(step: StepToRun<T>, finding: FoundStep | Promise<FoundStep>): Promise<T> {
    const { kind, name } = step;
    const found = finding instanceof Promise ? await finding : finding;
    if (found.body !== undefined) return this.#replayFound(step, found.body, found.seq) as T;
    const { candidate, leftover } = this.#place.running.persona;
    const hasRecords = candidate !== undefined || leftover !== undefined;
    const reused = hasRecords ? await this.#reuse(step, found.identity) : undefined;
    if (reused !== undefined) return this.#replay(reused.body, reused.seq) as T;
    const { store } = this.#parts.journal;
    const firstAskedAt = this.#parts.clock.now();
    const mayRepeat = this.#place.repeats !== undefined;
    for (let repeats = mayRepeat ? await this.#repeatsBefore(found.identity) : 0; ; ) {
      // A thousand sessions that write as fast as they can begin no more than can be recorded.
      if (!store.hasRoom) await new Promise<void>((resolve) => store.whenRoom(resolve));
      // Whoever was told to stop while it waited begins nothing.
      this.#parts.control.throwIfStopped();
      // Also where there is nobody to ask: no effect begins before whoever asked for it has gone on. Else the order that
      // steps are asked for in, which tells them apart, would depend on what else is under way.
      const admitted = await this.#admit(step);
      this.#parts.onStep?.(this.#place.running.attempt.persona, kind, name);
      const performed = await this.#run(step, admitted);
      const effects = this.#effectsOf(admitted, performed);
      // A healer that could not help is no reason to wait: whoever comes next asks it anew.
      const inPlace = kind !== "heal" && performed.hasSteps !== true;
      if (inPlace && (this.#isEarlyProbe(admitted, effects) || this.#isWaitedOut(effects, firstAskedAt))) {
        await this.#end([], effects);
        continue;
      }
      const again = inPlace ? this.#waitToRepeat(performed, repeats) : undefined;
      if (again !== undefined) {
        repeats += 1;
        const body = JSON.stringify({ wait: again, because: performed.failure?.message });
        await this.#record("wait", repeatName, repeatOf(found.identity, repeats), body, effects);
        await this.#waitOut(again);
        continue;
      }
      if (performed.saved !== undefined) this.#savings.save(performed.saved);
      const { body, text, stack, isNothing } = performed;
      const seq = isNothing ? 0 : await this.#record(kind, name, found.identity, body, effects);
      if (text !== undefined) return text as T;
      // Through the record, like a replay: a live run must not see more than a replay will.
      return this.#outcome(parseBody(body) as unknown as StepOutcome, seq, stack) as Promise<T>;
    }
  }

  /** Too long a wait and a spent budget end the drive, not the attempt: it goes on from here later. */
  #admit<T>({ dependency, spend }: StepToRun<T>): Promise<Admitted> | Admitted {
    if (dependency === undefined && spend === undefined) return notAdmitted;
    const { running, watchdog } = this.#place;
    const call = { dependency, spend: spend as Spend<never> | undefined };
    return this.#machine.run(admitCall(this.#parts, running.attempt, watchdog, call));
  }

  #run<T>(step: StepToRun<T>, { use, reservation }: Admitted): Promise<Performed> {
    const run = () => runEffect(this.#effectParts, this.#place, step);
    const running = use === undefined ? run() : this.#parts.breaker.attend(use, run);
    return reservation === undefined ? running : running.catch((error) => this.#giveUp(reservation, error));
  }

  #effectsOf({ use, reservation }: Admitted, { artifacts, failure, spent }: Performed): Effects {
    if (use === undefined && reservation === undefined && artifacts.length === 0) return noEffects;
    return {
      artifacts,
      call: use && { use, outcome: outcomeOfCall(failure) },
      settlement: reservation === undefined || spent === undefined ? undefined : { reservation, ...spent },
    };
  }

  /** Its failure says what everybody knows, that the service is down: the same attempt waits for the next probe. */
  #isEarlyProbe({ isEarlyProbe }: Admitted, { call }: Effects): boolean {
    return isEarlyProbe && call?.outcome.kind === "outage" && !this.#place.signal.aborted;
  }

  /**
   * That the service asks to wait was said when it ended the attempt before: this one waits as long as it takes, unless
   * asking may have cost something.
   */
  #isWaitedOut({ call, settlement }: Effects, firstAskedAt: number): boolean {
    if (call?.outcome.kind !== "rate-limit" || this.#place.signal.aborted) return false;
    if (settlement !== undefined && !isFree(settlement.spent)) return false;
    const { running, hasFallback } = this.#place;
    const isTold = running.attempt.continues !== undefined && !hasFallback;
    return isTold && this.#parts.clock.now() - firstAskedAt < longestWaitMs;
  }

  /** How often its call was repeated by drivers before this one; what is left of the last wait is waited. */
  async #repeatsBefore(call: StepIdentity): Promise<number> {
    for (let repeats = 0; ; repeats += 1) {
      const body = await this.#finder.recall("wait", repeatOf(call, repeats + 1));
      if (body === undefined) return repeats;
      await this.#waitOut(waitOf(body));
    }
  }

  #waitToRepeat({ failure }: Performed, repeats: number): Wait | undefined {
    const { repeats: policy, running, signal } = this.#place;
    if (policy === undefined || !running.attempt.hasProgressed || signal.aborted) return undefined;
    return waitToRepeat(policy, failure, repeats, this.#parts.clock.now());
  }

  /** Nothing of the call is recorded; what it may have taken still is. */
  async #giveUp(reservation: number, error: unknown): Promise<never> {
    const settlement = { reservation, spent: { usage: null, costMicroUsd: null }, failed: true };
    // Whoever has lost the session leaves it to the next driver.
    await this.#parts.journal.append([], { settlement }).catch(() => undefined);
    throw error;
  }

  takeSavings(): readonly Saving[] | undefined {
    return this.#savings.take();
  }

  /** What was only under way there serves until an attempt has failed with it: who tries again asks anew. */
  get #candidate(): RecordedSteps | undefined {
    const { candidate, attempts } = this.#place.running.persona;
    const hasFailed = attempts.some(
      ({ failure }, place) => failure !== undefined && attempts[place + 1]?.continues === undefined,
    );
    return candidate?.result !== undefined || !hasFailed ? candidate?.steps : undefined;
  }

  /** A fork does not pay for what the session it came from has on record, nor a new beginning for what was given up. */
  async #reuse<T>(
    { kind, name, spend }: StepToRun<T>,
    identity: StepIdentity,
  ): Promise<{ body: string; seq: number } | undefined> {
    const { leftover } = this.#place.running.persona;
    const { fingerprint, occurrence } = identity;
    const taken = this.#candidate?.find(stepRowKinds[kind], fingerprint, occurrence);
    const step = taken ?? leftover?.find(stepRowKinds[kind], fingerprint, occurrence);
    if (step === undefined || step.outage || kind === "wait") return undefined;
    const body = await this.#machine.run(this.#parts.journal.store.readBody(step.position));
    const outcome = parseBody(body) as unknown as StepOutcome;
    if (taken === undefined && "error" in outcome) return undefined;
    if (spend !== undefined && "result" in outcome) {
      const { usage, costMicroUsd } = spend.spent({ result: outcome.result as T });
      if (usage !== null)
        this.#savings.save({
          kind: "reuse",
          model: spend.model,
          tokens: totalTokens(usage),
          microUsd: costMicroUsd,
        });
    }
    return { body, seq: await this.#record(kind, name, identity, body) };
  }

  #find(kind: StepKind, name: string, input: Json): FoundStep | Promise<FoundStep> {
    const identity = this.#finder.identify(kind, name, input);
    this.#parts.control.throwIfStopped();
    this.throwIfBroken();
    this.#place.watchdog.progress();
    this.#place.workspace.noteStep();
    return this.#finder.find(kind, name, identity);
  }

  /** Gives the seq of its row. */
  #record(
    kind: StepKind,
    name: string,
    identity: StepIdentity,
    body: string,
    effects: Effects = noEffects,
  ): Promise<number> {
    const row = new NewStepRow(kind, this.#place.running.attempt.started, name, identity, body);
    const savings = this.takeSavings();
    return this.#end([row], savings === undefined ? effects : { ...effects, savings });
  }

  readonly #recorded = (rows: readonly RecordedRow[]): number => {
    this.#place.watchdog.progress();
    return rows[0]?.seq ?? 0;
  };

  /** One commit for the row and for what its call means to others; then those others are told. Gives the seq of the row. */
  #end(rows: readonly Entry[], effects: Effects): Promise<number> {
    // One promise less than through `run`: thousands of steps may wait here at a time.
    const recorded = this.#parts.journal.append(rows, effects).then(this.#recorded, this.#machine.failed);
    const isOwn = effects.settlement === undefined && effects.call === undefined;
    return isOwn ? recorded : this.#tell(recorded, effects);
  }

  async #tell(recording: Promise<number>, { settlement, call }: Effects): Promise<number> {
    const { journal, spending, breaker } = this.#parts;
    const recorded = await recording;
    if (settlement !== undefined)
      await this.#machine.run(spending.settled(journal.lease, this.#place.running.attempt));
    if (call !== undefined) await this.#machine.run(breaker.ended(call.use, call.outcome));
    return recorded;
  }

  #replayFound<T>({ spend }: StepToRun<T>, body: string, seq: number): unknown {
    if (spend !== undefined) this.#savings.replayed(seq);
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
      return parseJson(await this.#machine.run(this.#parts.artifacts.get(outcome.artifact)));
    if (!("error" in outcome)) return undefined;
    const error = fromErrorJson(outcome.error);
    if (stack !== undefined) Object.defineProperty(error, "stack", { value: stack });
    if (outcome.failure !== undefined) rememberFailure(error, outcome.failure);
    this.#failures.set(error, seq);
    throw error;
  }
}

const isFree = ({ usage }: Spent): boolean => usage !== null && totalTokens(usage) === 0;

const waitOf = (body: string): Wait => (parseBody(body) as unknown as { readonly wait: Wait }).wait;

const noOptions: StepOptions = {};
const noEffects: Effects = {};

const notAdmitted: Admitted = { use: undefined, reservation: undefined, isEarlyProbe: false };
