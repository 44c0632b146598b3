import { canonicalJson, sha256 } from "../domain/canonical.ts";
import type { Clock } from "../domain/clock.ts";
import { fromErrorJson, toErrorJson } from "../domain/error-json.ts";
import { InputInvalid } from "../domain/errors.ts";
import type { StepKind, StepOutcome, Wait } from "../domain/journal.ts";
import { parseBody } from "../domain/journal-codec.ts";
import { type Json, parseJson, toJsonText } from "../domain/json.ts";
import { remainingWaitMs } from "../domain/retry-policy.ts";
import type { RunningAttempt } from "../domain/session-state.ts";
import type { Artifacts } from "../state/artifacts.ts";
import { reach } from "../state/fault-points.ts";
import type { SessionJournal } from "../state/session-journal.ts";
import type { Control } from "./control.ts";

/** Results over this size are stored as artifacts; the journal keeps their hash. */
const inlineLimit = 256 * 1024;
const maxNameLength = 200;
const maxSleepMs = 366 * 24 * 3_600_000;
/** How long nobody may ask for a step before one that seems to have diverged is believed to have. */
const quietMs = 20;

export interface StepOptions {
  /** What the result depends on besides the name and the persona's input. A changed input runs the step again. */
  readonly input?: Json;
}

export interface StepParts {
  readonly journal: SessionJournal;
  readonly artifacts: Artifacts;
  readonly control: Control;
  readonly clock: Clock;
}

/** The durable steps of one attempt: each runs once, its outcome is recorded, and a replay gets the record. */
export class StepRecorder {
  readonly #parts: StepParts;
  readonly #running: RunningAttempt;
  readonly #input: string;
  readonly #occurrences = new Map<string, number>();
  /** Rows from here on were recorded by this process. */
  readonly #liveFrom: number;
  #asked = 0;
  #replaying = 0;
  #broken: { readonly cause: unknown } | undefined;

  constructor(parts: StepParts, running: RunningAttempt, input: string) {
    this.#parts = parts;
    this.#running = running;
    this.#input = input;
    this.#liveFrom = parts.journal.state.head.seq + 1;
  }

  /** Work that caught an error of the machine below must pass neither for finished nor for failed. */
  throwIfBroken(): void {
    if (this.#broken !== undefined) throw this.#broken.cause;
  }

  async run<T>(name: string, effect: () => T | Promise<T>, options: StepOptions = {}): Promise<T> {
    const found = await this.#find("function", name, options.input ?? null);
    if (found.body !== undefined) return this.#replay(found.body) as Promise<T>;
    const { body, artifacts, stack, text } = await this.#perform(name, effect);
    await this.#record("function", name, found.identity, body, artifacts);
    if (text !== undefined) return text as T;
    // Through the record, like a replay: a live run must not see more than a replay will.
    return this.#outcome(body, stack) as Promise<T>;
  }

  /** A wait that survives restarts: only the remainder is waited, never longer than `ms` whatever the clock does. */
  async sleep(ms: number): Promise<void> {
    const { clock, control } = this.#parts;
    if (!(ms >= 0 && ms <= maxSleepMs))
      throw new InputInvalid(`A wait of ${ms} ms is not between 0 and ${maxSleepMs}.`);
    const found = await this.#find("wait", "sleep", ms);
    let wait: Wait = { notBefore: clock.now() + ms, waitMs: ms };
    if (found.body !== undefined) wait = (parseBody(found.body) as unknown as { wait: Wait }).wait;
    else await this.#record("wait", "sleep", found.identity, JSON.stringify({ wait }), []);
    await clock.sleep(remainingWaitMs(wait, clock.now()), control.stopSignal);
  }

  async #find(
    kind: StepKind,
    name: string,
    input: Json,
  ): Promise<{ identity: Identity; body: string | undefined }> {
    const { control, journal } = this.#parts;
    checkName(name);
    control.throwIfStopped();
    this.#asked += 1;
    const { steps } = this.#running;
    const identity = this.#identify(kind, name, input);
    const step = steps.take(`step.${kind}`, identity.fingerprint, identity.occurrence);
    if (step !== undefined) {
      const body = step.body ?? (await this.#machine(journal.store.readBody(step.position)));
      step.body = undefined;
      return { identity, body };
    }
    if (steps.findDiverged(`step.${kind}`, name) !== undefined) {
      await this.#othersHaveAsked();
      control.throwIfStopped();
      const diverged = steps.findDiverged(`step.${kind}`, name);
      if (diverged !== undefined) await this.#diverge(name, diverged.fingerprint, identity.fingerprint);
    }
    return { identity, body: undefined };
  }

  /** Steps side by side ask in any order: the record that seems to be left over may be asked for in a moment. */
  async #othersHaveAsked(): Promise<void> {
    for (let before = -1; before !== this.#asked || this.#replaying > 0; ) {
      before = this.#asked;
      await new Promise((resolve) => setTimeout(resolve, quietMs));
    }
  }

  async #diverge(step: string, recorded: string, now: string): Promise<void> {
    const { journal } = this.#parts;
    const { started, phase, persona } = this.#running.attempt;
    const kept = this.#running.steps.usedRanges();
    const { seq } = journal.state.head;
    // What this process recorded itself is not among the steps to replay, and is kept all the same.
    if (seq >= this.#liveFrom) kept.push([this.#liveFrom, seq]);
    await this.#machine(
      journal.append([{ kind: "attempt.diverged", started, phase, persona, step, recorded, now, kept }]),
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
      return {
        body: JSON.stringify({ error: toErrorJson(error) }),
        artifacts: [],
        stack: (error as Error | undefined)?.stack,
      };
    }
    reach("step.function:after-effect");
    if (result === undefined) return { body: "{}", artifacts: [] };
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
    artifacts: readonly string[],
  ): Promise<void> {
    const row = {
      kind: `step.${kind}`,
      attempt: this.#running.attempt.started,
      name,
      ...identity,
      body,
    } as const;
    await this.#machine(this.#parts.journal.append([row], artifacts));
  }

  async #replay(body: string): Promise<unknown> {
    this.#replaying += 1;
    try {
      return await this.#outcome(body);
    } finally {
      this.#replaying -= 1;
    }
  }

  async #outcome(body: string, stack?: string): Promise<unknown> {
    const outcome = parseBody(body) as unknown as StepOutcome;
    if ("result" in outcome) return outcome.result;
    if ("artifact" in outcome)
      return parseJson(await this.#machine(this.#parts.artifacts.get(outcome.artifact)));
    if (!("error" in outcome)) return undefined;
    const error = fromErrorJson(outcome.error);
    if (stack !== undefined) Object.defineProperty(error, "stack", { value: stack });
    throw error;
  }

  async #machine<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (cause) {
      this.#broken ??= { cause };
      throw cause;
    }
  }
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
}

function checkName(name: string): void {
  if (typeof name === "string" && name.length > 0 && name.length <= maxNameLength) return;
  throw new InputInvalid(
    `A step needs a name of 1 to ${maxNameLength} characters, not ${JSON.stringify(name)?.slice(0, 80)}.`,
  );
}
