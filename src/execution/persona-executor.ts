import { decideAfterFailure, type RetryPolicies } from "../domain/after-failure.ts";
import { toErrorJson } from "../domain/error-json.ts";
import { CircuitOpen, UnrecoverableError } from "../domain/errors.ts";
import type { PersonaResult, RecordedFailure } from "../domain/journal.ts";
import type { RecordedSteps } from "../domain/recorded-steps.ts";
import { remainingWaitMs } from "../domain/retry-policy.ts";
import { type AttemptState, type PersonaState, personaOf, phaseOf } from "../domain/session-state.ts";
import { longestWaitMs } from "./admission.ts";
import { type AttemptEnd, type AttemptParts, AttemptRun, type PersonaWork } from "./attempt-run.ts";
import { fromTheMachine, MachineError } from "./machine-error.ts";

export interface ExecutorParts extends AttemptParts {
  readonly policies: RetryPolicies;
}

/** Level 1: the attempts of one round. Knows from the journal what was done before and goes on from there. */
export class PersonaExecutor {
  readonly #parts: ExecutorParts;
  readonly #work: PersonaWork;
  readonly #persona: PersonaState;

  constructor(parts: ExecutorParts, work: PersonaWork) {
    this.#parts = parts;
    this.#work = work;
    this.#persona = personaOf(parts.journal.state, work.phase, work.persona);
  }

  /** Every attempt of a round that fails ends in UnrecoverableError, with the failure of each. */
  async execute(round: number): Promise<PersonaResult> {
    for (;;) {
      const result = await this.#attempt(await this.#next(round));
      if (result !== undefined) return result;
      if (this.#last?.next?.kind !== "attempt") throw this.#exhausted(round);
    }
  }

  get #last(): AttemptState | undefined {
    return this.#persona.attempts.at(-1);
  }

  /** The attempt that a crash interrupted, or a new one once the recorded wait is over. */
  async #next(round: number): Promise<AttemptState> {
    const { journal, clock, control } = this.#parts;
    const last = this.#last;
    const isOutdated = this.#isOutdated(last);
    await this.#readBack(this.#persona.candidate?.steps);
    if (last?.status === "running" && !isOutdated) return last;
    if (last?.next !== undefined && "wait" in last.next && last.round > this.#persona.roundsUsedBefore) {
      const waitMs = remainingWaitMs(last.next.wait, clock.now());
      // Nobody's place is taken up by a wait for hours: the session parks and is taken up again by itself.
      if (waitMs > longestWaitMs) throw toldToWait(last, clock.now() + waitMs);
      await clock.sleep(waitMs, control.stopSignal);
    }
    control.throwIfStopped();
    await this.#readBack(this.#persona.inheritance);
    const { phase, persona, input } = this.#work;
    const attempt = last?.round === round ? last.attempt + 1 : 1;
    const goesOn = last !== undefined && this.#persona.inheritance !== undefined && !isOutdated;
    const continues = goesOn ? { continues: last.started } : {};
    const begins = this.#beginning(isOutdated);
    const row = { phase, persona, round, attempt, input, ...continues, ...begins } as const;
    const artifacts = this.#work.baseArtifacts;
    await journal.append([{ kind: "attempt.started", ...row }], { artifacts });
    return this.#last as AttemptState;
  }

  /** What an ended attempt recorded was not kept in memory; whoever goes on from it needs it now. */
  async #readBack(steps: RecordedSteps | undefined): Promise<void> {
    const { journal } = this.#parts;
    const [first] = steps?.unread ?? [];
    if (steps === undefined || first === undefined) return;
    for await (const page of journal.store.readJournal(journal.state.id, first[0] - 1))
      steps.giveUnread(page);
    steps.allGiven();
  }

  /**
   * Since its last attempt the team was changed, and what it reads is something else. Its old files over the new ones
   * would undo what others have made meanwhile.
   */
  #isOutdated(last: AttemptState | undefined): boolean {
    const { phase, input, base } = this.#work;
    const { revision } = phaseOf(this.#parts.journal.state, phase);
    if (last === undefined || last.revision === revision || this.#persona.reopened !== undefined)
      return false;
    return last.input !== input || last.base !== base;
  }

  /** Its view of the phase, and the files and settings that the attempt before left for it. */
  #beginning(isOutdated: boolean) {
    const beginning = isOutdated ? undefined : this.#persona.beginning;
    const base = beginning !== undefined && "base" in beginning ? beginning.base : this.#work.base;
    const tree = beginning !== undefined && "tree" in beginning ? beginning.tree : this.#work.begins;
    const settings = beginning?.settings;
    return {
      ...(base !== undefined && { base }),
      ...(tree !== undefined && tree !== base && { tree }),
      ...(settings !== undefined && { settings }),
    };
  }

  async #attempt(attempt: AttemptState): Promise<PersonaResult | undefined> {
    const { journal } = this.#parts;
    const running = journal.state.running.get(attempt.started);
    if (running === undefined) throw new Error(`attempt ${attempt.started} does not run`);
    try {
      const repeats = this.#isLastOfRound(attempt) ? this.#parts.policies.attempts : undefined;
      const end = await new AttemptRun(this.#parts, this.#work, running, this.#reasons(), repeats).run();
      if (end.kind === "failed") return await this.#fail(attempt, end);
      await this.#complete(attempt, end);
      return end.result;
    } catch (error) {
      throw error instanceof MachineError ? error.cause : error;
    }
  }

  async #complete(attempt: AttemptState, end: Extract<AttemptEnd, { kind: "completed" }>): Promise<void> {
    const { journal } = this.#parts;
    const { result, checks, healing, tree, artifacts, savings } = end;
    const healed = healing.find(({ outcome }) => outcome === "passed");
    const row = {
      kind: "attempt.completed",
      ...of(attempt),
      result,
      ...(tree !== undefined && tree !== attempt.tree && { tree }),
      ...(checks.length > 0 && { checks }),
      ...(healed !== undefined && { healed }),
      // What was kept before it is part of the result as well.
      ...(healing.length > 0 && { healing }),
    } as const;
    await journal.append([row], { artifacts, savings }).catch(fromTheMachine);
  }

  async #fail(attempt: AttemptState, end: Extract<AttemptEnd, { kind: "failed" }>): Promise<undefined> {
    const { journal, clock, policies } = this.#parts;
    const { error, failure, failedStep, checks, healing, settings, mended, tree, artifacts, savings } = end;
    const next = decideAfterFailure(
      {
        error,
        failure,
        inStep: failedStep !== undefined,
        mended,
        attemptsFailed: this.#failedBefore(attempt) + 1,
        roundsUsed: attempt.round - this.#persona.roundsUsedBefore,
        now: clock.now(),
        random: Math.random(),
      },
      policies,
    );
    const row = {
      kind: "attempt.failed",
      ...of(attempt),
      failure: { ...failure, error: toErrorJson(error) },
      next,
      ...(failedStep !== undefined && { failedStep }),
      ...(tree !== undefined && tree !== attempt.tree && { tree }),
      ...(checks.length > 0 && { checks }),
      ...(healing.length > 0 && { healing }),
      ...(settings !== undefined && { settings: { ...attempt.settings, ...settings } }),
    } as const;
    await journal.append([row], { artifacts, savings }).catch(fromTheMachine);
    if (next.kind === "stop") throw error;
    return undefined;
  }

  /** Everything that went wrong so far, for whoever tries again. */
  #reasons(): RecordedFailure[] {
    const { beginning, attempts } = this.#persona;
    return [...(beginning?.reasons ?? []), ...attempts.flatMap(({ failure }) => failure ?? [])];
  }

  #ofRound(round: number): readonly AttemptState[] {
    return this.#persona.attempts.filter((attempt) => attempt.round === round);
  }

  /** Those that were given up have not failed. */
  #failedBefore({ round, started }: AttemptState): number {
    const others = this.#ofRound(round).filter((other) => other.started !== started);
    return others.filter(({ failure }) => failure !== undefined).length;
  }

  #isLastOfRound(attempt: AttemptState): boolean {
    return this.#failedBefore(attempt) + 1 >= this.#parts.policies.attempts.maxAttempts;
  }

  #exhausted(round: number): UnrecoverableError {
    const failures = this.#ofRound(round).flatMap(({ failure }) => failure ?? []);
    const { persona, phase } = this.#work;
    return new UnrecoverableError(
      `${persona} failed ${failures.length} ${failures.length === 1 ? "attempt" : "attempts"} in phase ${phase}, round ${round}: ${failures.at(-1)?.message}`,
      { details: { phase, persona, round, failures } },
    );
  }
}

function toldToWait({ persona, phase, failure }: AttemptState, retryAt: number): CircuitOpen {
  return new CircuitOpen(
    `${persona} in phase ${phase} was told to wait until ${new Date(retryAt).toISOString()}: ${failure?.message}`,
    { details: { retryAt, phase, persona }, advice: "It goes on by itself then." },
  );
}

function of({ started, phase, persona }: AttemptState) {
  return { started, phase, persona };
}
