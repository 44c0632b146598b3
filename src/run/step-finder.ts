import type { Divergence } from "../journal/divergence.ts";
import type { StepKind } from "../journal/journal.ts";
import { type RecordedStep, type StepIdentity, stepRowKinds } from "../journal/recorded-step.ts";
import type { SessionJournal } from "../store/session-journal.ts";
import type { ActiveAttempt } from "./active-attempt.ts";
import type { Control, Infrastructure } from "./control.ts";

/** No step is asked for during this time before a suspected divergence counts as one. */
const quietMs = 20;

export interface FoundStep {
  readonly identity: StepIdentity;
  /** Undefined when the step has to run. */
  readonly body: string | undefined;
  readonly seq: number;
}

/** Serves the records of one attempt's steps, and notices when the work diverges from them. */
export class StepFinder {
  readonly #journal: SessionJournal;
  readonly #control: Control;
  readonly #infrastructure: Infrastructure;
  readonly #running: ActiveAttempt;
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

  /** Synchronous if the body of the record is in memory. */
  serve(recorded: RecordedStep, kind: StepKind, name: string, identity: StepIdentity) {
    const suspicion = this.#running.steps.suspicionBefore(recorded.seq);
    if (suspicion === undefined) return this.#use(recorded, identity);
    return this.#useUnlessDiverged(recorded, kind, name, identity);
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
    this.#running.steps.miss(stepRowKinds[kind], name, identity.fingerprint);
    return { identity, body: undefined, seq: 0 };
  }

  /** Parallel steps ask in any order: a suspicious record may be asked for in a moment. */
  async othersHaveAsked(): Promise<void> {
    const { steps } = this.#running;
    for (let before = -1; before !== steps.asked || this.#replaying > 0; ) {
      before = steps.asked;
      await new Promise((resolve) => setTimeout(resolve, quietMs));
    }
  }

  async #diverge({ step: { name: step, fingerprint }, asked }: Divergence): Promise<void> {
    const { started, phase, persona } = this.#running.of;
    const kept = this.#running.steps.usedRanges();
    const of = { started, phase, persona };
    const row = { kind: "attempt.diverged", ...of, step, recorded: fingerprint, now: asked, kept } as const;
    await this.#infrastructure.run(this.#journal.append([row]));
    this.#running.steps.keepOnly(kept);
  }
}
