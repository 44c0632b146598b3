import { toErrorJson } from "../domain/error-json.ts";
import { CircuitOpen, ContractUnfulfilled, UnrecoverableError } from "../domain/errors.ts";
import { redactError } from "../domain/redact.ts";
import { remainingWaitMs } from "../domain/retry-policy.ts";
import {
  type AttemptOutcome,
  decideAfterFailure,
  isEqualFailure,
  type RetryPolicies,
} from "../journal/after-failure.ts";
import type { PersonaResult, RecordedFailure } from "../journal/journal.ts";
import { type AttemptState, type PersonaState, personaOf, phaseOf } from "../journal/session-state.ts";
import { ActiveAttempt } from "./active-attempt.ts";
import { longestWaitMs } from "./admission.ts";
import { type AttemptEnd, AttemptRun } from "./attempt.ts";
import { InfrastructureFailure, infrastructureFailed } from "./control.ts";
import type { PersonaDrive } from "./drive.ts";
import type { PersonaWork } from "./persona-work.ts";
import { outputsOf } from "./validate.ts";

/** Level 1: the attempts of one round. Continues from the journal. */
export class PersonaExecutor {
  readonly #drive: PersonaDrive;
  readonly #policies: RetryPolicies;
  readonly #work: PersonaWork;

  constructor(drive: PersonaDrive, work: PersonaWork) {
    this.#drive = drive;
    this.#policies = withMaxAttempts(drive.policies, work.maxAttempts);
    this.#work = work;
  }

  /** Throws UnrecoverableError with all failures when every attempt of the round has failed. */
  async execute(round: number): Promise<PersonaResult> {
    for (;;) {
      const result = await this.#attempt(await this.#next(round));
      if (result !== undefined) return result;
      if (this.#last?.next?.kind !== "attempt") throw this.#exhausted(round);
    }
  }

  get #persona(): PersonaState {
    return personaOf(this.#drive.journal.state, this.#work.phase, this.#work.persona);
  }

  get #last(): AttemptState | undefined {
    return this.#persona.attempts.at(-1);
  }

  /** The attempt that a crash interrupted, or a new one once the recorded wait is over. */
  async #next(round: number): Promise<AttemptState> {
    const { journal, clock, control, waiter } = this.#drive;
    const last = this.#last;
    const isOutdated = this.#isOutdated(last);
    if (last?.status === "running" && !isOutdated) return last;
    if (last?.next !== undefined && "wait" in last.next && last.round > this.#persona.roundsUsedBefore) {
      const { wait } = last.next;
      const waitMs = remainingWaitMs(wait, clock.now(), journal.state.restedMs);
      // A wait of hours must not occupy a place. The session parks and resumes automatically.
      if (waitMs > longestWaitMs) throw waitTooLong(last, clock.now() + waitMs);
      await waiter.during(waitMs, () => clock.sleep(waitMs, control.stopSignal));
    }
    control.throwIfStopped();
    const { phase, persona, input } = this.#work;
    const attempt = last?.round === round ? last.attempt + 1 : 1;
    const isContinued = last !== undefined && this.#persona.inheritance !== undefined && !isOutdated;
    const continues = isContinued ? { continues: last.started } : {};
    const begins = this.#beginning(isOutdated);
    const row = { phase, persona, round, attempt, input, ...continues, ...begins } as const;
    const artifacts = this.#work.baseArtifacts;
    await journal.append([{ kind: "attempt.started", ...row }], { artifacts });
    return this.#last as AttemptState;
  }

  /**
   * The team has changed since the last attempt, and with it the persona's input. The old files on top of the new ones
   * would undo the work of others.
   */
  #isOutdated(last: AttemptState | undefined): boolean {
    const { phase, input, base } = this.#work;
    const { revision } = phaseOf(this.#drive.journal.state, phase);
    if (last === undefined || last.revision === revision || this.#persona.reopened !== undefined)
      return false;
    return last.input !== input || last.base !== base;
  }

  /** The files and settings that the attempt begins with. */
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
    const { journal } = this.#drive;
    const running = await ActiveAttempt.open(journal, attempt);
    try {
      const repeats = this.#isLastOfRound(attempt) ? this.#policies.attempts : undefined;
      const end = await new AttemptRun(this.#drive, this.#work, running, this.#reasons(), repeats).run();
      if (end.kind === "failed") return await this.#fail(attempt, end);
      await this.#complete(attempt, end);
      return end.result;
    } catch (error) {
      throw error instanceof InfrastructureFailure ? error.cause : error;
    }
  }

  async #complete(attempt: AttemptState, end: Extract<AttemptEnd, { kind: "completed" }>): Promise<void> {
    const { journal } = this.#drive;
    const { result, checks, healing, putBack, tree, artifacts, savings } = end;
    const healed = healing.find(({ outcome }) => outcome === "passed");
    const row = {
      kind: "attempt.completed",
      ...of(attempt),
      result,
      ...(tree !== undefined && tree !== attempt.tree && { tree }),
      ...(checks.length > 0 && { checks }),
      ...(healed !== undefined && { healed }),
      // Healing that was kept is part of the result.
      ...(healing.length > 0 && { healing }),
      ...(putBack !== undefined && { putBack }),
    } as const;
    const named = [...artifacts, ...outputsOf(checks)];
    await journal.append([row], { artifacts: named, savings }).catch(infrastructureFailed);
  }

  async #fail(attempt: AttemptState, end: Extract<AttemptEnd, { kind: "failed" }>): Promise<undefined> {
    const { journal, clock } = this.#drive;
    const { restedMs } = journal.state;
    const { error, failure, failedStep, checks, healing, putBack } = end;
    const { settings, mended, tree, artifacts, savings } = end;
    const next = decideAfterFailure(
      {
        error,
        failure,
        inStep: failedStep !== undefined,
        mended,
        sameAs: ContractUnfulfilled.is(error) ? this.#equalFailure(attempt, end) : undefined,
        attemptsFailed: this.#failedBefore(attempt) + 1,
        roundsUsed: attempt.round - this.#persona.roundsUsedBefore,
        now: clock.now(),
        random: Math.random(),
      },
      this.#policies,
    );
    const row = {
      kind: "attempt.failed",
      ...of(attempt),
      failure: { ...failure, error: redactError(toErrorJson(error)) },
      next: "wait" in next && restedMs > 0 ? { ...next, wait: { ...next.wait, restedMs } } : next,
      ...(failedStep !== undefined && { failedStep }),
      ...(tree !== undefined && tree !== attempt.tree && { tree }),
      ...(checks.length > 0 && { checks }),
      ...(healing.length > 0 && { healing }),
      ...(putBack !== undefined && { putBack }),
      ...(settings !== undefined && { settings: { ...attempt.settings, ...settings } }),
    } as const;
    const named = [...artifacts, ...outputsOf(checks)];
    await journal.append([row], { artifacts: named, savings }).catch(infrastructureFailed);
    if (next.kind === "stop") throw error;
    return undefined;
  }

  /** The attempt before it in its round, if that one ended as this one does. */
  #equalFailure({ round, started }: AttemptState, end: AttemptOutcome): number | undefined {
    if (!this.#work.givesUpEarly) return undefined;
    const before = this.#ofRound(round).findLast((other) => other.started !== started);
    return before?.failure !== undefined && isEqualFailure(end, before) ? before.started : undefined;
  }

  /** All failures so far, for the next attempt. */
  #reasons(): RecordedFailure[] {
    const { beginning, attempts } = this.#persona;
    return [...(beginning?.reasons ?? []), ...attempts.flatMap(({ failure }) => failure ?? [])];
  }

  #ofRound(round: number): readonly AttemptState[] {
    return this.#persona.attempts.filter((attempt) => attempt.round === round);
  }

  /** Attempts that were abandoned as outdated have not failed. */
  #failedBefore({ round, started }: AttemptState): number {
    const others = this.#ofRound(round).filter((other) => other.started !== started);
    return others.filter(({ failure }) => failure !== undefined).length;
  }

  #isLastOfRound(attempt: AttemptState): boolean {
    return this.#failedBefore(attempt) + 1 >= this.#policies.attempts.maxAttempts;
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

function waitTooLong({ persona, phase, failure }: AttemptState, retryAt: number): CircuitOpen {
  return new CircuitOpen(
    `${persona} in phase ${phase} must wait until ${new Date(retryAt).toISOString()}: ${failure?.message}`,
    { details: { retryAt, phase, persona }, advice: "The session resumes automatically then." },
  );
}

/** A persona may set its own number of attempts. */
export function withMaxAttempts(policies: RetryPolicies, maxAttempts: number | null): RetryPolicies {
  if (maxAttempts === null) return policies;
  return { ...policies, attempts: { ...policies.attempts, maxAttempts } };
}

function of({ started, phase, persona }: AttemptState) {
  return { started, phase, persona };
}
