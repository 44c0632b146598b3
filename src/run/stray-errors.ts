import { AsyncLocalStorage } from "node:async_hooks";
import { toErrorJson } from "../domain/error-json.ts";
import { StrayError } from "../domain/errors.ts";

type FailAttempt = (error: unknown) => void;

const attempts = new AsyncLocalStorage<FailAttempt>();

/** Errors that the work leaves unhandled, in timers and unawaited promises too, go to `fail` once they are claimed. */
export function owningStrayErrors<T>(fail: FailAttempt, work: () => Promise<T>): Promise<T> {
  return attempts.run(fail, work);
}

/**
 * For a program's handlers of `unhandledRejection` and `uncaughtException`. If a persona's code raised the error, its
 * attempt fails with it and this returns true. Node calls the handlers in the async context that the error comes from.
 */
export function claimStrayError(error: unknown): boolean {
  const fail = attempts.getStore();
  fail?.(error);
  return fail !== undefined;
}

export function strayError(persona: string, cause: unknown): StrayError {
  // From a function in a process of its own.
  if (StrayError.is(cause)) return cause;
  return new StrayError(
    `Persona "${persona}" left an error that nothing handled: ${toErrorJson(cause).message}`,
    {
      cause,
      advice: "Await every promise, and handle the errors of timers, streams and event emitters.",
    },
  );
}
