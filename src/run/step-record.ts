import { hash } from "node:crypto";
import { canonicalJson } from "../domain/canonical.ts";
import type { ErrorJson } from "../domain/error-json.ts";
import { InputInvalid } from "../domain/errors.ts";
import type { Failure } from "../domain/failure.ts";
import { type Json, toJsonText } from "../domain/json.ts";
import type { TreeChange } from "../domain/tree.ts";
import type { Suspicion } from "../journal/divergence.ts";
import type { StepKind, StepRow } from "../journal/journal.ts";
import { type RecordedStep, stepRowKinds } from "../journal/recorded-step.ts";
import { outageBody } from "../journal/recorded-steps.ts";
import type { SessionJournal } from "../store/session-journal.ts";
import type { ActiveAttempt } from "./active-attempt.ts";
import type { Control, Infrastructure } from "./control.ts";

// The record of a step: its identity, its row, the body of the row, and how a replay finds it again.

export interface StepIdentity {
  readonly fingerprint: string;
  readonly occurrence: number;
}

const maxNameLength = 200;

/** Gives each step of an attempt its identity: the same work asked for again is the next occurrence of it. */
export class StepIdentities {
  readonly #personaInput: string;
  readonly #occurrences = new Map<string, number>();

  constructor(personaInput: string) {
    this.#personaInput = personaInput;
  }

  next(kind: StepKind, name: string, input: Json, isOnce = false): StepIdentity {
    if (typeof name !== "string" || name.length === 0 || name.length > maxNameLength) throw badName(name);
    const identifying = isOnce ? onceText(kind, name, input) : this.#identifying(kind, name, input);
    const fingerprint = hash("sha256", identifying).slice(0, 32);
    const key = kind === "function" ? fingerprint : kind + fingerprint;
    const occurrence = (this.#occurrences.get(key) ?? 0) + 1;
    this.#occurrences.set(key, occurrence);
    return { fingerprint, occurrence };
  }

  /** A function may read anything its persona does; the input of every other kind is all that it depends on. */
  #identifying(kind: StepKind, name: string, input: Json): string {
    if (kind !== "function" && kind !== "wait") return `${kind} ${canonicalInput(name, input)}`;
    // The name as JSON, so that no name can pose as a name and an input.
    const own = input === null ? "" : canonicalInput(name, input);
    return `${this.#personaInput} ${JSON.stringify(name)} ${own}`;
  }
}

/** Without all that the persona reads: the effect happened, whatever the persona reads by the time it asks again. */
const onceText = (kind: StepKind, name: string, input: Json): string =>
  `once ${kind} ${JSON.stringify(name)} ${input === null ? "" : canonicalInput(name, input)}`;

/** An input that JSON cannot hold would make one step of two: the second would get the result of the first. */
export function canonicalInput(name: string, input: Json): string {
  try {
    return canonicalJson(input);
  } catch (cause) {
    if (!InputInvalid.is(cause)) throw cause;
    const { message, advice, details } = cause;
    throw new InputInvalid(`The input of step "${name}" is no JSON: ${message}.`, { advice, details, cause });
  }
}

const badName = (name: unknown): InputInvalid =>
  new InputInvalid(
    `A step needs a name of 1 to ${maxNameLength} characters, not ${JSON.stringify(name)?.slice(0, 80)}.`,
  );

/** Each repetition of a call waits under an identity of its own. */
export const repeatOf = ({ fingerprint, occurrence }: StepIdentity, repeats: number): StepIdentity => ({
  fingerprint: hash("sha256", `repeat ${fingerprint} ${occurrence}`).slice(0, 32),
  occurrence: repeats,
});

/**
 * A step to be recorded. An instance and no literal, as is all that holds the result of a step while that waits for the
 * disk: literals of which V8 once saw many live long it puts among the old objects at once, where each keeps its result
 * in memory long after the step, and every small collection carries that along.
 */
export class NewStepRow implements StepRow {
  readonly kind: StepRow["kind"];
  readonly attempt: number;
  readonly name: string;
  readonly fingerprint: string;
  readonly occurrence: number;
  readonly body: string;

  constructor(kind: StepKind, attempt: number, name: string, identity: StepIdentity, body: string) {
    this.kind = stepRowKinds[kind];
    this.attempt = attempt;
    this.name = name;
    this.fingerprint = identity.fingerprint;
    this.occurrence = identity.occurrence;
    this.body = body;
  }
}

const resultStart = '{"result":';

/** The body of a step with this result; a result of undefined has no member. */
export function resultBody(result: unknown, name: string): string {
  return toJsonText(result, { what: `the result of step "${name}"`, member: "result" });
}

/** The result in a text that `resultBody` wrote. */
export const resultIn = (body: string): string => body.slice(resultStart.length, -1);

export const artifactBody = (sha256: string): string => `{"artifact":"${sha256}"}`;

/** `failure`: as judged while the error was fresh; undefined for a thrown value, which says no more than its text. */
export function errorBody(
  error: ErrorJson,
  { outage, failure }: { readonly outage: boolean; readonly failure: Failure | undefined },
): string {
  const body = JSON.stringify({ error, failure });
  return outage ? outageBody + body.slice(1) : body;
}

export const isFailure = (body: string): boolean =>
  body.startsWith(outageBody) || body.startsWith('{"error":');

/** The same body with the files that the step changed; they come first. */
export function withChanges(body: string, changes: readonly TreeChange[]): string {
  if (changes.length === 0) return body;
  return `{"changes":${JSON.stringify(changes)}${body === "{}" ? "" : ","}${body.slice(1)}`;
}

/**
 * The same body with the call that was sent to a model: JSON text of a `SentCall`, and the output that its budgets left,
 * which is no part of the call's fingerprint.
 */
export const sentBody = (body: string, sent: string, allowedOutput?: number): string =>
  `${body.slice(0, -1)}${body === "{}" ? "" : ","}"sent":${sent}${allowedOutput === undefined ? "" : `,"allowedOutput":${allowedOutput}`}}`;

const textStart = `${resultStart}"`;
const textEnd = '"}';

/** A result that is a text in which nothing is escaped, without parsing its row; undefined for every other row. */
export function plainResult(body: string): string | undefined {
  if (!body.startsWith(textStart) || !body.endsWith(textEnd)) return undefined;
  const text = body.slice(textStart.length, -textEnd.length);
  return text.includes('"') || text.includes("\\") ? undefined : text;
}

/** No step is asked for during this time before a suspected divergence counts as one. */
const quietMs = 20;

export interface FoundStep {
  readonly identity: StepIdentity;
  /** Undefined when the step has to run. */
  readonly body: string | undefined;
  readonly seq: number;
}

/** Finds the records of one attempt's steps, and notices when the work diverges from them. */
export class StepFinder {
  readonly #journal: SessionJournal;
  readonly #control: Control;
  readonly #infrastructure: Infrastructure;
  readonly #running: ActiveAttempt;
  #asked = 0;
  #replaying = 0;

  constructor(
    journal: SessionJournal,
    control: Control,
    infrastructure: Infrastructure,
    running: ActiveAttempt,
  ) {
    this.#journal = journal;
    this.#control = control;
    this.#infrastructure = infrastructure;
    this.#running = running;
  }

  /** Synchronous if there is no record, or if its body is in memory. */
  find(kind: StepKind, name: string, identity: StepIdentity): FoundStep | Promise<FoundStep> {
    const { steps } = this.#running;
    this.#asked += 1;
    const recorded = steps.find(stepRowKinds[kind], identity.fingerprint, identity.occurrence);
    if (recorded === undefined) return this.#miss(kind, name, identity);
    if (steps.suspicionBefore(recorded.seq) === undefined) return this.#use(recorded, identity);
    return this.#useUnlessDiverged(recorded, kind, name, identity);
  }

  #miss(kind: StepKind, name: string, identity: StepIdentity): FoundStep {
    this.#running.steps.miss(stepRowKinds[kind], name, identity.fingerprint);
    return { identity, body: undefined, seq: 0 };
  }

  #use(recorded: RecordedStep, identity: StepIdentity): FoundStep | Promise<FoundStep> {
    this.#running.steps.use(recorded);
    const { seq } = recorded;
    const body = this.#journal.bodyOf(recorded);
    if (typeof body === "string") return { identity, body, seq };
    return this.#infrastructure.run(body).then((read) => ({ identity, body: read, seq }));
  }

  /** A record that the work does not ask for itself, so that it is no sign of a divergence. */
  async recall(kind: StepKind, { fingerprint, occurrence }: StepIdentity): Promise<string | undefined> {
    const recorded = this.#running.steps.find(stepRowKinds[kind], fingerprint, occurrence);
    if (recorded === undefined) return undefined;
    recorded.used = true;
    const body = this.#journal.bodyOf(recorded);
    return typeof body === "string" ? body : this.#infrastructure.run(body);
  }

  /** While a step is replayed, the work that awaits it may ask for more steps. */
  async replaying<T>(replay: () => Promise<T>): Promise<T> {
    this.#replaying += 1;
    try {
      return await replay();
    } finally {
      this.#replaying -= 1;
    }
  }

  /** A record made after one whose input has changed rests on the old input: then the run has diverged. */
  async #useUnlessDiverged(
    recorded: RecordedStep,
    kind: StepKind,
    name: string,
    identity: StepIdentity,
  ): Promise<FoundStep> {
    await this.othersHaveAsked();
    this.#control.throwIfStopped();
    const suspicion = this.#running.steps.suspicionBefore(recorded.seq);
    if (suspicion === undefined) return this.#use(recorded, identity);
    await this.#diverge(suspicion);
    return this.#miss(kind, name, identity);
  }

  /** Parallel steps ask in any order: a suspicious record may be asked for in a moment. */
  async othersHaveAsked(): Promise<void> {
    for (let before = -1; before !== this.#asked || this.#replaying > 0; ) {
      before = this.#asked;
      await new Promise((resolve) => setTimeout(resolve, quietMs));
    }
  }

  async #diverge({ step: { name: step, fingerprint }, asked }: Suspicion): Promise<void> {
    const { started, phase, persona } = this.#running.of;
    const kept = this.#running.steps.usedRanges();
    const of = { started, phase, persona };
    const row = { kind: "attempt.diverged", ...of, step, recorded: fingerprint, now: asked, kept } as const;
    await this.#infrastructure.run(this.#journal.append([row]));
    this.#running.steps.keepOnly(kept);
  }
}
