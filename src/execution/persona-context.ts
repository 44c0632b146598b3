import type { PersonaResult } from "../domain/journal.ts";
import type { Json } from "../domain/json.ts";
import type { StepOptions } from "./step-recorder.ts";

/** The immutable value a phase reads. */
export interface TeamContext {
  readonly sessionId: string;
  readonly phase: string;
  /** The whole results of earlier phases: phase, then persona. */
  readonly results: Readonly<Record<string, Readonly<Record<string, PersonaResult>>>>;
}

/** What a persona whose work is code gets. */
export interface PersonaContext {
  readonly brief: string;
  readonly context: TeamContext;
  /** Aborted when the work should stop now. */
  readonly signal: AbortSignal;
  /** Why earlier attempts failed, oldest first; empty at the first. */
  readonly failures: readonly Error[];
  /**
   * Runs `effect` once and remembers its outcome for ever; a restart gets the record. If the process dies between the
   * effect and its record, the effect happens again: make effects on the outside world idempotent.
   */
  readonly step: <T>(name: string, effect: () => T | Promise<T>, options?: StepOptions) => Promise<T>;
  /** A wait that survives restarts. */
  readonly sleep: (ms: number) => Promise<void>;
  /** For people who watch; not recorded. */
  readonly log: (message: string) => void;
}

export interface PersonaReturn {
  readonly summary: string;
  readonly outputs?: Readonly<Record<string, Json>>;
}

export type PersonaFunction = (context: PersonaContext) => Promise<PersonaReturn> | PersonaReturn;
