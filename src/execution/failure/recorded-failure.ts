import type { Failure } from "../../domain/failure.ts";
import type { Link } from "./error-chain.ts";
import type { Verdict } from "./verdict.ts";

const judged = new WeakMap<object, Failure>();

/** An error that comes back from its record has lost its status and headers; what they said is kept beside it. */
export function rememberFailure(error: Error, failure: Failure): void {
  judged.set(error, failure);
}

export function recallFailure(thrown: unknown): Failure | undefined {
  return typeof thrown === "object" && thrown !== null ? judged.get(thrown) : undefined;
}

/** For an error that wraps a recorded one: the words are its own, the verdict is the recorded one's. */
export function readRecorded({ value }: Link): Verdict | undefined {
  const failure = recallFailure(value);
  if (failure === undefined) return undefined;
  const { message: _, details: __, source: ___, ...verdict } = failure;
  return verdict;
}
