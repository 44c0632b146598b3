import { canonicalJson, sha256 } from "../domain/canonical.ts";
import type { Clock } from "../domain/clock.ts";
import { fromErrorJson, toErrorJson } from "../domain/error-json.ts";
import { InputInvalid } from "../domain/errors.ts";
import type { Failure } from "../domain/failure.ts";
import type { StepKind, StepOutcome, Wait } from "../domain/journal.ts";
import { parseBody } from "../domain/journal-codec.ts";
import { type Json, parseJson, toJsonText } from "../domain/json.ts";
import { outageBody, type RecordedStep, type Suspicion } from "../domain/recorded-steps.ts";
import { remainingWaitMs } from "../domain/retry-policy.ts";
import type { RunningAttempt } from "../domain/session-state.ts";
import type { Artifacts } from "../state/artifacts.ts";
import type { BreakerUse } from "../state/breaker-store.ts";
import { reach } from "../state/fault-points.ts";
import type { SessionJournal } from "../state/session-journal.ts";
import type { Effects } from "../state/store.ts";
import { type CircuitBreaker, circuitOpen, outcomeOfCall } from "./circuit-breaker.ts";
import type { Control } from "./control.ts";
import { MachineError } from "./machine-error.ts";
import type { Watchdog } from "./watchdog.ts";

/** Results over this size are stored as artifacts; the journal keeps their hash. */
const inlineLimit = 256 * 1024;
const maxNameLength = 200;
const maxSleepMs = 366 * 24 * 3_600_000;
/** A breaker that stays open for longer than this is not waited for: the session parks and is taken up again. */
const longestWaitMs = 600_000;
/** How long nobody may ask for a step before one that seems to have diverged is believed to have. */
const quietMs = 20;

export interface StepOptions {
  /** What the result depends on besides the name and the persona's input. A changed input runs the step again. */
  readonly input?: Json;
  /** The service the effect calls, such as "api.example.org". While its breaker is open, the step waits. */
  readonly dependency?: string;
}

export interface StepParts {
  readonly journal: SessionJournal;
  readonly artifacts: Artifacts;
  readonly control: Control;
  readonly clock: Clock;
  readonly breaker: CircuitBreaker;
}

/** The durable steps of one attempt: each runs once, its outcome is recorded, and a replay gets the record. */
export class StepRecorder {
  readonly #parts: StepParts;
  readonly #running: RunningAttempt;
  readonly #input: string;
  readonly #watchdog: Watchdog;
  readonly #occurrences = new Map<string, number>();
  /** Which step an error came from. */
  readonly #failures = new WeakMap<object, number>();
  readonly #underWay = new Set<Promise<unknown>>();
  #asked = 0;
  #replaying = 0;
  #closed = false;
  #broken: MachineError | undefined;

  constructor(parts: StepParts, running: RunningAttempt, input: string, watchdog: Watchdog) {
    this.#parts = parts;
    this.#running = running;
    this.#input = input;
    this.#watchdog = watchdog;
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

  run<T>(name: string, effect: () => T | Promise<T>, options: StepOptions = {}): Promise<T> {
    const step = this.#run(name, effect, options);
    const forget = () => this.#underWay.delete(step);
    this.#underWay.add(step);
    step.then(forget, forget);
    return step;
  }

  async #run<T>(name: string, effect: () => T | Promise<T>, options: StepOptions): Promise<T> {
    const found = await this.#find("function", name, options.input ?? null);
    if (found.body !== undefined) return this.#replay(found.body, found.seq) as Promise<T>;
    const use = options.dependency === undefined ? undefined : await this.#enter(options.dependency);
    const { body, artifacts, stack, text, failure } = await this.#perform(name, effect);
    const call = use && { use, outcome: outcomeOfCall(failure) };
    const seq = await this.#record("function", name, found.identity, body, { artifacts, call });
    if (call !== undefined) await this.#machine(this.#parts.breaker.ended(call.use, call.outcome));
    if (text !== undefined) return text as T;
    // Through the record, like a replay: a live run must not see more than a replay will.
    return this.#outcome(body, seq, stack) as Promise<T>;
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
    await this.#watchdog.during(() => clock.sleep(remainingWaitMs(wait, clock.now()), control.stopSignal));
  }

  /** Waits until the dependency may be called; too long a wait is thrown, and uses up no attempt either. */
  async #enter(dependency: string): Promise<BreakerUse> {
    const { breaker, clock, control, journal } = this.#parts;
    for (;;) {
      const use = breaker.use(dependency);
      const admission = await this.#machine(breaker.admit(use));
      if (admission.kind !== "refused") return use;
      const { retryAt } = admission;
      const waitMs = retryAt - clock.now();
      if (waitMs > longestWaitMs) throw this.#break(circuitOpen(dependency, retryAt));
      const { started, phase, persona } = this.#running.attempt;
      await this.#machine(
        journal.append([{ kind: "dependency.waiting", started, phase, persona, dependency, until: retryAt }]),
      );
      await this.#watchdog.during(() => clock.sleep(waitMs, control.stopSignal));
      control.throwIfStopped();
    }
  }

  async #find(
    kind: StepKind,
    name: string,
    input: Json,
  ): Promise<{ identity: Identity; body: string | undefined; seq: number }> {
    const { control, journal } = this.#parts;
    checkName(name);
    control.throwIfStopped();
    this.throwIfBroken();
    if (this.#closed) {
      throw new InputInvalid(`Step "${name}" was called after its attempt had ended.`, {
        advice: "Await every step.",
      });
    }
    this.#watchdog.progress();
    this.#asked += 1;
    const { steps } = this.#running;
    const identity = this.#identify(kind, name, input);
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
    const { steps } = this.#running;
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
    const { journal } = this.#parts;
    const { started, phase, persona } = this.#running.attempt;
    const kept = this.#running.steps.usedRanges();
    await this.#machine(
      journal.append([
        {
          kind: "attempt.diverged",
          started,
          phase,
          persona,
          step: title.slice(title.indexOf(" ") + 1),
          recorded: fingerprint,
          now: asked,
          kept,
        },
      ]),
    );
  }

  #identify(kind: StepKind, name: string, input: Json): Identity {
    const print = stepFingerprint(this.#input, name, input);
    const occurrence = (this.#occurrences.get(kind + print) ?? 0) + 1;
    this.#occurrences.set(kind + print, occurrence);
    return { fingerprint: print, occurrence };
  }

  async #perform(name: string, effect: () => unknown): Promise<Performed> {
    let result: unknown;
    try {
      result = await effect();
    } catch (error) {
      // Aborted work says nothing about the step; the next driver runs it again.
      this.#parts.control.signal.throwIfAborted();
      const { classifyError } = await import("./failure/classify-error.ts");
      const failure = classifyError(error, this.#parts.clock.now());
      const json = JSON.stringify({ error: toErrorJson(error) });
      const body = failure.outage ? outageBody + json.slice(1) : json;
      return { body, artifacts: [], stack: (error as Error | undefined)?.stack, failure };
    }
    reach("step.function:after-effect");
    if (result === undefined) return { body: "{}", artifacts: [] };
    refuseCollections(result, name);
    const text = toJsonText(result, { what: `the result of step "${name}"` });
    const same = typeof result === "string" ? { text: result } : {};
    if (text.length <= inlineLimit) return { body: `{"result":${text}}`, artifacts: [], ...same };
    const artifact = await this.#machine(this.#parts.artifacts.put(text));
    return { body: JSON.stringify({ artifact }), artifacts: [artifact] };
  }

  async #record(
    kind: StepKind,
    name: string,
    identity: Identity,
    body: string,
    effects: Effects = {},
  ): Promise<number> {
    if (this.#closed) throw new InputInvalid(`Step "${name}" ended after its attempt had.`);
    const row = {
      kind: `step.${kind}`,
      attempt: this.#running.attempt.started,
      name,
      ...identity,
      body,
    } as const;
    const [recorded] = await this.#machine(this.#parts.journal.append([row], effects));
    this.#watchdog.progress();
    return recorded?.seq ?? 0;
  }

  async #replay(body: string, seq: number): Promise<unknown> {
    this.#replaying += 1;
    try {
      return await this.#outcome(body, seq);
    } finally {
      this.#replaying -= 1;
    }
  }

  async #outcome(body: string, seq: number, stack?: string): Promise<unknown> {
    const outcome = parseBody(body) as unknown as StepOutcome;
    if ("result" in outcome) return outcome.result;
    if ("artifact" in outcome)
      return parseJson(await this.#machine(this.#parts.artifacts.get(outcome.artifact)));
    if (!("error" in outcome)) return undefined;
    const error = fromErrorJson(outcome.error);
    if (stack !== undefined) Object.defineProperty(error, "stack", { value: stack });
    this.#failures.set(error, seq);
    throw error;
  }

  #break(cause: unknown): unknown {
    this.#broken ??= new MachineError(cause);
    return cause;
  }

  async #machine<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (cause) {
      throw this.#break(cause);
    }
  }
}

/** JSON would silently make an empty object of these. */
function refuseCollections(result: unknown, name: string): void {
  if (!(result instanceof Map || result instanceof Set)) return;
  throw new InputInvalid(
    `The result of step "${name}" is a ${result.constructor.name}, which JSON cannot hold.`,
    {
      advice: "Return plain data, for instance [...result].",
    },
  );
}

/** The name as JSON, so that no name can pose as a name and an input. */
function stepFingerprint(personaInput: string, name: string, input: Json): string {
  return sha256(
    `${personaInput} ${JSON.stringify(name)} ${input === null ? "" : canonicalJson(input)}`,
  ).slice(0, 32);
}

interface Identity {
  readonly fingerprint: string;
  readonly occurrence: number;
}

interface Performed {
  readonly body: string;
  readonly artifacts: readonly string[];
  readonly stack?: string | undefined;
  /** A result that is a text comes out of its record as it went in, and need not be read back. */
  readonly text?: string;
  readonly failure?: Failure;
}

function checkName(name: string): void {
  if (typeof name === "string" && name.length > 0 && name.length <= maxNameLength) return;
  throw new InputInvalid(
    `A step needs a name of 1 to ${maxNameLength} characters, not ${JSON.stringify(name)?.slice(0, 80)}.`,
  );
}
