import type { DurableStep, SavedBy } from "../domain/durable-step.ts";
import { fromErrorJson, toErrorJson } from "../domain/error-json.ts";
import { InputInvalid } from "../domain/errors.ts";
import type { Failure } from "../domain/failure.ts";
import type { StepKind, StepOutcome, Wait } from "../domain/journal.ts";
import { parseBody } from "../domain/journal-codec.ts";
import { type Json, parseJson } from "../domain/json.ts";
import type { Saving } from "../domain/ledger.ts";
import type { RecordedStep, Suspicion } from "../domain/recorded-steps.ts";
import { remainingWaitMs } from "../domain/retry-policy.ts";
import type { RunningAttempt } from "../domain/session-state.ts";
import type { TreeChange } from "../domain/tree.ts";
import { type Spend, totalTokens } from "../domain/usage.ts";
import type { Artifacts } from "../state/artifacts.ts";
import { reach } from "../state/fault-points.ts";
import type { Effects } from "../state/store.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { type AdmissionParts, type Admitted, admitCall } from "./admission.ts";
import { outcomeOfCall } from "./circuit-breaker.ts";
import { DriverStopped } from "./control.ts";
import { rememberFailure } from "./failure/recorded-failure.ts";
import { MachineError } from "./machine-error.ts";
import { resultText, stepBody } from "./step-body.ts";
import { StepIdentities, type StepIdentity } from "./step-identity.ts";
import type { Watchdog } from "./watchdog.ts";

/** Results over this size are stored as artifacts; the journal keeps their hash. */
const inlineLimit = 256 * 1024;
const maxSleepMs = 366 * 24 * 3_600_000;
/** How long nobody may ask for a step before one that seems to have diverged is believed to have. */
const quietMs = 20;

export interface StepOptions {
  /** What the result depends on besides the name and the persona's input. A changed input runs the step again. */
  readonly input?: Json;
  /** The service the effect calls, such as "api.example.org". While its breaker is open, the step waits. */
  readonly dependency?: string;
}

export interface StepParts extends AdmissionParts {
  readonly artifacts: Artifacts;
}

/** What one attempt works with. */
export interface AttemptPlace {
  readonly running: RunningAttempt;
  /** Fingerprint of everything the persona reads. */
  readonly input: string;
  readonly workspace: Workspace;
  readonly watchdog: Watchdog;
}

/** The durable steps of one attempt: each runs once, its outcome is recorded, and a replay gets the record. */
export class StepRecorder {
  readonly #parts: StepParts;
  readonly #place: AttemptPlace;
  readonly #identities: StepIdentities;
  /** Which step an error came from. */
  readonly #failures = new WeakMap<object, number>();
  readonly #underWay = new Set<Promise<unknown>>();
  #asked = 0;
  #replaying = 0;
  /** Paid calls of earlier drivers that were answered from their records. */
  readonly #replayed: number[] = [];
  readonly #savings: Saving[] = [];
  #closed = false;
  #broken: MachineError | undefined;

  constructor(parts: StepParts, place: AttemptPlace) {
    this.#parts = parts;
    this.#place = place;
    this.#identities = new StepIdentities(place.input);
  }

  /** The seq of the step that threw this very error, if one did. */
  failedStep(error: unknown): number | undefined {
    return typeof error === "object" && error !== null ? this.#failures.get(error) : undefined;
  }

  /** The attempt is over; work that nobody awaited may not add to it. */
  close(): void {
    this.#closed = true;
  }

  /** Work that caught an error of the machine below must pass neither for finished nor for failed. */
  throwIfBroken(): void {
    if (this.#broken !== undefined) throw this.#broken;
  }

  /** What is under way is finished and recorded before its attempt ends, however that ends. */
  async settle(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
  }

  /** A step of a function persona. */
  run<T>(name: string, effect: () => T | Promise<T>, options: StepOptions = {}): Promise<T> {
    const { input = null, dependency } = options;
    return this.#track(this.#perform({ kind: "function", name, input, dependency, effect }));
  }

  /** A step of a model, a tool, a check or a healer. */
  perform<T>(step: DurableStep<T>): Promise<T> {
    return this.#track(this.#perform(step));
  }

  /** A wait that survives restarts: only the remainder is waited, never longer than `ms` whatever the clock does. */
  async sleep(ms: number): Promise<void> {
    const { clock, control } = this.#parts;
    if (!(ms >= 0 && ms <= maxSleepMs))
      throw new InputInvalid(`A wait of ${ms} ms is not between 0 and ${maxSleepMs}.`);
    const found = await this.#find("wait", "sleep", ms);
    let wait: Wait = { notBefore: clock.now() + ms, waitMs: ms };
    if (found.body !== undefined) wait = (parseBody(found.body) as unknown as { wait: Wait }).wait;
    else await this.#record("wait", "sleep", found.identity, JSON.stringify({ wait }));
    const { watchdog } = this.#place;
    await watchdog.during(() => clock.sleep(remainingWaitMs(wait, clock.now()), control.stopSignal));
  }

  #track<T>(step: Promise<T>): Promise<T> {
    const forget = () => this.#underWay.delete(step);
    this.#underWay.add(step);
    step.then(forget, forget);
    return step;
  }

  async #perform<T>(step: StepToRun<T>): Promise<T> {
    const { kind, name } = step;
    const found = await this.#find(kind, name, step.input);
    if (found.body !== undefined) {
      if (step.spend !== undefined) this.#replayed.push(found.seq);
      return this.#replay(found.body, found.seq) as Promise<T>;
    }
    const reused = await this.#reuse(step, found.identity);
    if (reused !== undefined) return this.#replay(reused.body, reused.seq) as Promise<T>;
    const admitted = await this.#admit(step);
    const { body, artifacts, stack, text, failure, spent, saved } = await this.#run(step).catch(
      (error: unknown) => this.#giveUp(admitted, error),
    );
    const { use, reservation } = admitted;
    if (this.#closed) await this.#settleLost(reservation);
    const call = use && { use, outcome: outcomeOfCall(failure) };
    if (saved !== undefined) this.#save(saved);
    const settlement =
      reservation === undefined || spent === undefined ? undefined : { reservation, ...spent };
    const seq = await this.#record(kind, name, found.identity, body, { artifacts, call, settlement });
    if (settlement !== undefined) await this.#machine(this.#settled());
    if (call !== undefined) await this.#machine(this.#parts.breaker.ended(call.use, call.outcome));
    if (text !== undefined) return text as T;
    // Through the record, like a replay: a live run must not see more than a replay will.
    return this.#outcome(parseBody(body) as unknown as StepOutcome, seq, stack) as Promise<T>;
  }

  /** Too long a wait and a spent budget end the drive, not the attempt: it goes on from here later. */
  #admit<T>({ dependency, spend }: StepToRun<T>): Promise<Admitted> | Admitted {
    if (dependency === undefined && spend === undefined) return { use: undefined, reservation: undefined };
    const { running, watchdog } = this.#place;
    const call = { dependency, spend: spend as Spend<never> | undefined };
    return this.#machine(admitCall(this.#parts, running.attempt, watchdog, call));
  }

  /** Made, and too late to be recorded: nobody will know what it took, but nobody may wait for it either. */
  async #settleLost(reservation: number | undefined): Promise<void> {
    if (reservation === undefined) return;
    const spent = { usage: null, costMicroUsd: null };
    const settlement = { reservation, spent, failed: true };
    await this.#machine(this.#parts.journal.append([], { settlement }));
  }

  /** Nothing of the call is recorded; what it may have taken still is. */
  async #giveUp({ reservation }: Admitted, error: unknown): Promise<never> {
    // Whoever has lost the session leaves it to the next driver.
    await this.#settleLost(reservation).catch(() => undefined);
    throw error;
  }

  /** What did not have to be paid; counted with the next row. */
  takeSavings(): readonly Saving[] | undefined {
    if (this.#savings.length === 0 && this.#replayed.length === 0) return undefined;
    const replayed = this.#replayed.splice(0);
    const resumed: readonly Saving[] = replayed.length === 0 ? [] : [{ kind: "resume", steps: replayed }];
    return [...this.#savings.splice(0), ...resumed];
  }

  #save(saved: SavedBy): void {
    const { phase, persona } = this.#place.running.attempt;
    this.#savings.push({ ...saved, phase, persona });
  }

  #settled(): Promise<void> {
    const { spending, journal } = this.#parts;
    return spending.settled(journal.lease, this.#place.running.attempt);
  }

  /** A fork does not pay for what the session it came from has on record. */
  async #reuse<T>(
    { kind, name, spend }: StepToRun<T>,
    identity: StepIdentity,
  ): Promise<{ body: string; seq: number } | undefined> {
    const { candidate } = this.#place.running.persona;
    const step = candidate?.steps.find(`step.${kind}`, identity.fingerprint, identity.occurrence);
    if (step === undefined || step.outage || kind === "wait") return undefined;
    const body = await this.#machine(this.#parts.journal.store.readBody(step.position));
    const outcome = parseBody(body) as unknown as StepOutcome;
    if (spend !== undefined && "result" in outcome) {
      const { usage, costMicroUsd } = spend.spent({ result: outcome.result as T });
      if (usage !== null)
        this.#save({ kind: "reuse", model: spend.model, tokens: totalTokens(usage), microUsd: costMicroUsd });
    }
    return { body, seq: await this.#record(kind, name, identity, body) };
  }

  async #find(
    kind: StepKind,
    name: string,
    input: Json,
  ): Promise<{ identity: StepIdentity; body: string | undefined; seq: number }> {
    const { control, journal } = this.#parts;
    const identity = this.#identities.next(kind, name, input);
    control.throwIfStopped();
    this.throwIfBroken();
    if (this.#closed) {
      throw new InputInvalid(`Step "${name}" was called after its attempt had ended.`, {
        advice: "Await every step.",
      });
    }
    this.#place.watchdog.progress();
    this.#asked += 1;
    const { steps } = this.#place.running;
    const step = await this.#reusable(steps.find(`step.${kind}`, identity.fingerprint, identity.occurrence));
    if (step === undefined) {
      steps.miss(`step.${kind}`, name, identity.fingerprint);
      return { identity, body: undefined, seq: 0 };
    }
    const body = step.body ?? (await this.#machine(journal.store.readBody(step.position)));
    step.body = undefined;
    return { identity, body, seq: step.seq };
  }

  /** A record made after one whose input has changed rests on the old input: then the run has diverged. */
  async #reusable(step: RecordedStep | undefined): Promise<RecordedStep | undefined> {
    const { steps } = this.#place.running;
    if (step === undefined) return undefined;
    if (steps.suspicionBefore(step.seq) !== undefined) {
      await this.#othersHaveAsked();
      this.#parts.control.throwIfStopped();
      const suspicion = steps.suspicionBefore(step.seq);
      if (suspicion !== undefined) {
        await this.#diverge(suspicion);
        return undefined;
      }
    }
    steps.use(step);
    return step;
  }

  /** Steps side by side ask in any order: the record that seems to be left over may be asked for in a moment. */
  async #othersHaveAsked(): Promise<void> {
    for (let before = -1; before !== this.#asked || this.#replaying > 0; ) {
      before = this.#asked;
      await new Promise((resolve) => setTimeout(resolve, quietMs));
    }
  }

  async #diverge({ step: { title, fingerprint }, asked }: Suspicion): Promise<void> {
    const { running } = this.#place;
    const { started, phase, persona } = running.attempt;
    const kept = running.steps.usedRanges();
    const step = title.slice(title.indexOf(" ") + 1);
    const of = { started, phase, persona };
    const row = { kind: "attempt.diverged", ...of, step, recorded: fingerprint, now: asked, kept } as const;
    await this.#machine(this.#parts.journal.append([row]));
  }

  /** What an effect changed in the workspace is part of its result; one that fails changes nothing. */
  async #run<T>({ kind, name, effect, spend, saved: savedBy }: StepToRun<T>): Promise<Performed> {
    const { workspace } = this.#place;
    let ended: { readonly result: T; readonly changes: readonly TreeChange[] };
    let made: { readonly result: T } | undefined;
    let json: string | undefined;
    try {
      ended = await workspace.recording(async () => {
        made = { result: await effect() };
        // Here, so that a result that cannot be recorded is a failure of the step, and paid for like its success.
        json = resultText(made.result, name);
        return made.result;
      });
    } catch (error) {
      return this.#failed(error, spend?.spent(made ?? { error }));
    }
    // A tool and an agent name their changes in their results, and apply them again by themselves.
    const changes = namesChanges(ended.result) ? [] : ended.changes;
    if (kind === "function") reach("step.function:after-effect");
    const spent = spend && { spent: spend.spent(ended), failed: false };
    const saved = savedBy?.(ended.result);
    const blobs = ended.changes.length === 0 ? [] : await this.#machine(workspace.flush(ended.changes));
    const beside = { artifacts: blobs, spent, saved };
    if (json === undefined) return { body: stepBody({ kind: "nothing" }, changes), ...beside };
    const same = typeof ended.result === "string" ? { text: ended.result } : {};
    if (json.length <= inlineLimit)
      return { body: stepBody({ kind: "result", json }, changes), ...beside, ...same };
    const sha256 = await this.#machine(this.#parts.artifacts.put(json));
    const artifacts = [...blobs, sha256];
    return { body: stepBody({ kind: "artifact", sha256 }, changes), ...beside, artifacts };
  }

  async #failed(error: unknown, spent: ReturnType<Spend<never>["spent"]> | undefined): Promise<Performed> {
    // Aborted work says nothing about the step; the next driver runs it again.
    this.#parts.control.signal.throwIfAborted();
    const { classifyError } = await import("./failure/classify-error.ts");
    const failure = classifyError(error, this.#parts.clock.now());
    const end = { kind: "error", error: toErrorJson(error), outage: failure.outage } as const;
    return {
      body: stepBody(error instanceof Error ? { ...end, failure } : end, []),
      artifacts: [],
      stack: (error as Error | undefined)?.stack,
      failure,
      spent: spent && { spent, failed: true },
    };
  }

  async #record(
    kind: StepKind,
    name: string,
    identity: StepIdentity,
    body: string,
    effects: Effects = {},
  ): Promise<number> {
    if (this.#closed) throw new InputInvalid(`Step "${name}" ended after its attempt had.`);
    const attempt = this.#place.running.attempt.started;
    const row = { kind: `step.${kind}`, attempt, name, ...identity, body } as const;
    const savings = this.takeSavings();
    const [recorded] = await this.#machine(
      this.#parts.journal.append([row], savings === undefined ? effects : { ...effects, savings }),
    );
    this.#place.watchdog.progress();
    return recorded?.seq ?? 0;
  }

  async #replay(body: string, seq: number): Promise<unknown> {
    this.#replaying += 1;
    try {
      const outcome = parseBody(body) as unknown as StepOutcome;
      if (outcome.changes !== undefined) this.#place.workspace.reapply(outcome.changes);
      return await this.#outcome(outcome, seq);
    } finally {
      this.#replaying -= 1;
    }
  }

  async #outcome(outcome: StepOutcome, seq: number, stack?: string): Promise<unknown> {
    if ("result" in outcome) return outcome.result;
    if ("artifact" in outcome)
      return parseJson(await this.#machine(this.#parts.artifacts.get(outcome.artifact)));
    if (!("error" in outcome)) return undefined;
    const error = fromErrorJson(outcome.error);
    if (stack !== undefined) Object.defineProperty(error, "stack", { value: stack });
    if (outcome.failure !== undefined) rememberFailure(error, outcome.failure);
    this.#failures.set(error, seq);
    throw error;
  }

  async #machine<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (cause) {
      // Being told to stop is no failure of the machine.
      if (cause instanceof DriverStopped) throw cause;
      this.#broken ??= new MachineError(cause);
      throw cause;
    }
  }
}

interface StepToRun<T> {
  readonly kind: StepKind;
  readonly name: string;
  readonly input: Json;
  readonly dependency?: string | undefined;
  readonly spend?: Spend<T> | undefined;
  readonly saved?: ((result: T) => SavedBy | undefined) | undefined;
  readonly effect: () => T | Promise<T>;
}

interface Performed {
  readonly body: string;
  readonly artifacts: readonly string[];
  readonly stack?: string | undefined;
  /** A result that is a text comes out of its record as it went in, and need not be read back. */
  readonly text?: string;
  readonly failure?: Failure;
  readonly saved?: SavedBy | undefined;
  readonly spent?:
    | { readonly spent: ReturnType<Spend<never>["spent"]>; readonly failed: boolean }
    | undefined;
}

const namesChanges = (result: unknown): boolean =>
  typeof result === "object" && result !== null && "changes" in result && Array.isArray(result.changes);
