import type { StepKind } from "../domain/journal.ts";
import type { Json } from "../domain/json.ts";
import { takeBody } from "../domain/kept-bodies.ts";
import { type RecordedStep, stepRowKinds } from "../domain/recorded-step.ts";
import type { RunningAttempt } from "../domain/session-state.ts";
import type { Suspicion } from "../domain/suspicions.ts";
import type { SessionJournal } from "../state/session-journal.ts";
import type { Control } from "./control.ts";
import type { Machine } from "./machine-error.ts";
import { StepIdentities, type StepIdentity } from "./step-identity.ts";

/** How long nobody may ask for a step before one that seems to have diverged is believed to have. */
const quietMs = 20;

export interface FinderParts {
  readonly journal: SessionJournal;
  readonly control: Control;
  readonly machine: Machine;
}

export interface FoundStep {
  readonly identity: StepIdentity;
  /** Undefined when it has to be run. */
  readonly body: string | undefined;
  readonly seq: number;
}

/** Finds the records of one attempt's steps again, and notices when they are records of another story. */
export class StepFinder {
  readonly #parts: FinderParts;
  readonly #running: RunningAttempt;
  readonly #identities: StepIdentities;
  #asked = 0;
  #replaying = 0;

  constructor(parts: FinderParts, running: RunningAttempt, input: string) {
    this.#parts = parts;
    this.#running = running;
    this.#identities = new StepIdentities(input);
  }

  identify(kind: StepKind, name: string, input: Json): StepIdentity {
    return this.#identities.next(kind, name, input);
  }

  /** At once where nothing is on record, or where the record is at hand. */
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
    const { journal, machine } = this.#parts;
    this.#running.steps.use(recorded);
    const { seq, position } = recorded;
    const body = takeBody(recorded);
    if (body !== undefined) return { identity, body, seq };
    return machine.run(journal.store.readBody(position)).then((read) => ({ identity, body: read, seq }));
  }

  /** A record that is not part of the story: nobody has to ask for it, so it says nothing about a divergence. */
  async recall(kind: StepKind, { fingerprint, occurrence }: StepIdentity): Promise<string | undefined> {
    const recorded = this.#running.steps.find(stepRowKinds[kind], fingerprint, occurrence);
    if (recorded === undefined) return undefined;
    recorded.used = true;
    const { journal, machine } = this.#parts;
    return takeBody(recorded) ?? machine.run(journal.store.readBody(recorded.position));
  }

  /** While something is replayed, whoever waits for it may still ask for more. */
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
    await this.#othersHaveAsked();
    this.#parts.control.throwIfStopped();
    const suspicion = this.#running.steps.suspicionBefore(recorded.seq);
    if (suspicion === undefined) return this.#use(recorded, identity);
    await this.#diverge(suspicion);
    return this.#miss(kind, name, identity);
  }

  /** Steps side by side ask in any order: the record that seems to be left over may be asked for in a moment. */
  async #othersHaveAsked(): Promise<void> {
    for (let before = -1; before !== this.#asked || this.#replaying > 0; ) {
      before = this.#asked;
      await new Promise((resolve) => setTimeout(resolve, quietMs));
    }
  }

  async #diverge({ step: { name: step, fingerprint }, asked }: Suspicion): Promise<void> {
    const { journal, machine } = this.#parts;
    const { started, phase, persona } = this.#running.attempt;
    const kept = this.#running.steps.usedRanges();
    const of = { started, phase, persona };
    const row = { kind: "attempt.diverged", ...of, step, recorded: fingerprint, now: asked, kept } as const;
    await machine.run(journal.append([row]));
  }
}
