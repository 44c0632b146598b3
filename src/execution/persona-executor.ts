import { decideAfterFailure, type RetryPolicies } from "../domain/after-failure.ts";
import type { Clock } from "../domain/clock.ts";
import { fromErrorJson, toErrorJson } from "../domain/error-json.ts";
import { InputInvalid, UnrecoverableError } from "../domain/errors.ts";
import type { PersonaResult, RecordedFailure } from "../domain/journal.ts";
import { isJsonObject, parseJson, toJsonText } from "../domain/json.ts";
import { remainingWaitMs } from "../domain/retry-policy.ts";
import { type AttemptState, type PersonaState, personaOf } from "../domain/session-state.ts";
import type { Artifacts } from "../state/artifacts.ts";
import type { SessionJournal } from "../state/session-journal.ts";
import type { CircuitBreaker } from "./circuit-breaker.ts";
import type { Control } from "./control.ts";
import { fromTheMachine, MachineError } from "./machine-error.ts";
import type { PersonaContext, PersonaFunction, TeamContext } from "./persona-context.ts";
import { StepRecorder } from "./step-recorder.ts";
import { Watchdog } from "./watchdog.ts";

/** A persona's outputs travel in prompts, checkpoints and pages; what is larger belongs into files. */
const resultLimits = { maxBytes: 256 * 1024, maxDepth: 100 };

export interface PersonaWork {
  readonly phase: string;
  readonly persona: string;
  readonly run: PersonaFunction;
  readonly brief: string;
  readonly context: TeamContext;
  /** Fingerprint of everything the persona reads. */
  readonly input: string;
  /** How long an attempt may stand still. */
  readonly timeoutMs: number;
}

export interface ExecutorParts {
  readonly journal: SessionJournal;
  readonly artifacts: Artifacts;
  readonly control: Control;
  readonly clock: Clock;
  readonly breaker: CircuitBreaker;
  readonly policies: RetryPolicies;
  readonly log: (persona: string, message: string) => void;
}

/** Level 1: the attempts of one round. Knows from the journal what was done before and goes on from there. */
export class PersonaExecutor {
  readonly #parts: ExecutorParts;
  readonly #work: PersonaWork;
  readonly #persona: PersonaState;
  #failedStep: number | undefined;

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
    if (last?.status === "running") return last;
    if (last?.next !== undefined && "wait" in last.next && last.round > this.#persona.roundsUsedBefore) {
      await clock.sleep(remainingWaitMs(last.next.wait, clock.now()), control.stopSignal);
    }
    control.throwIfStopped();
    const { phase, persona, input } = this.#work;
    const attempt = last?.round === round ? last.attempt + 1 : 1;
    const continues =
      last !== undefined && this.#persona.inheritance !== undefined ? { continues: last.started } : {};
    await journal.append([{ kind: "attempt.started", phase, persona, round, attempt, input, ...continues }]);
    return this.#last as AttemptState;
  }

  async #attempt(attempt: AttemptState): Promise<PersonaResult | undefined> {
    const { journal, control, clock, policies } = this.#parts;
    const { started, phase, persona } = attempt;
    const of = { started, phase, persona };
    try {
      const result = await this.#run(attempt);
      await journal.append([{ kind: "attempt.completed", ...of, result }]).catch(fromTheMachine);
      return result;
    } catch (error) {
      if (control.stopped !== undefined) throw control.stopped;
      if (error instanceof MachineError) throw error.cause;
      // Loaded when something fails: a start that goes well should not pay for it.
      const { classifyError } = await import("./failure/classify-error.ts");
      const failure = classifyError(error, clock.now());
      const failedStep = this.#failedStep;
      const next = decideAfterFailure(
        {
          error,
          failure,
          inStep: failedStep !== undefined,
          attemptsFailed: attempt.attempt,
          roundsUsed: attempt.round - this.#persona.roundsUsedBefore,
          now: clock.now(),
          random: Math.random(),
        },
        policies,
      );
      await journal.append([
        {
          kind: "attempt.failed",
          ...of,
          failure: { ...failure, error: toErrorJson(error) },
          next,
          ...(failedStep !== undefined && { failedStep }),
        },
      ]);
      if (next.kind === "stop") throw error;
      return undefined;
    }
  }

  async #run(attempt: AttemptState): Promise<PersonaResult> {
    const { journal, control, log } = this.#parts;
    const { run, brief, context, persona, input } = this.#work;
    const running = journal.state.running.get(attempt.started);
    if (running === undefined) throw new Error(`attempt ${attempt.started} does not run`);
    const watchdog = new Watchdog(this.#parts.clock, this.#work.timeoutMs);
    const timeout = new AbortController();
    // A changed input changes every step's fingerprint, which is how the steps notice that they diverged.
    const steps = new StepRecorder(this.#parts, running, input, watchdog);
    const personaContext: PersonaContext = {
      brief,
      context,
      signal: AbortSignal.any([control.signal, timeout.signal]),
      failures: this.#failures(attempt.round).map(({ error }) => fromErrorJson(error)),
      step: (name, effect, options) => steps.run(name, effect, options),
      sleep: (ms) => steps.sleep(ms),
      log: (message) => {
        watchdog.progress();
        log(persona, message);
      },
    };
    const work = async (): Promise<unknown> => {
      try {
        return await run(personaContext);
      } finally {
        await steps.settle();
      }
    };
    let returned: unknown;
    this.#failedStep = undefined;
    try {
      returned = await watchdog.watch(work(), (reason) => timeout.abort(reason));
    } catch (error) {
      this.#failedStep = steps.failedStep(error);
      throw error;
    } finally {
      steps.close();
      steps.throwIfBroken();
    }
    // A persona may have caught the stop and made something of it; the next driver makes the result from the steps.
    control.throwIfStopped();
    return checkResult(persona, returned);
  }

  #failures(round: number): RecordedFailure[] {
    return this.#persona.attempts.flatMap((attempt) =>
      attempt.round <= round && attempt.failure ? [attempt.failure] : [],
    );
  }

  #exhausted(round: number): UnrecoverableError {
    const failures = this.#persona.attempts.flatMap((attempt) =>
      attempt.round === round && attempt.failure ? [attempt.failure] : [],
    );
    const { persona, phase } = this.#work;
    return new UnrecoverableError(
      `${persona} failed ${failures.length} ${failures.length === 1 ? "attempt" : "attempts"} in phase ${phase}, round ${round}: ${failures.at(-1)?.message}`,
      { details: { phase, persona, round, failures } },
    );
  }
}

function checkResult(persona: string, returned: unknown): PersonaResult {
  const what = `the result of persona "${persona}"`;
  const json = parseJson(toJsonText(returned, { what, ...resultLimits }), { what });
  const outputs = isJsonObject(json) ? (json["outputs"] ?? {}) : undefined;
  if (isJsonObject(json) && typeof json["summary"] === "string" && isJsonObject(outputs))
    return { summary: json["summary"], outputs };
  throw new InputInvalid(`Persona "${persona}" must return { summary: string, outputs?: object }.`, {
    advice: `It returned ${JSON.stringify(json)?.slice(0, 100)}.`,
  });
}
