import type { Failure } from "../../domain/failure.ts";
import type { Link, Verdict } from "./error-chain.ts";

const judged = new WeakMap<object, Failure>();

/** An error read back from its record has lost its status and headers; its classification is kept beside it. */
export function rememberFailure(error: Error, failure: Failure): void {
  judged.set(error, failure);
}

export function recallFailure(thrown: unknown): Failure | undefined {
  return typeof thrown === "object" && thrown !== null ? judged.get(thrown) : undefined;
}

/** For an error that wraps a recorded one: its own message, the recorded classification. */
export function readRecorded({ value }: Link): Verdict | undefined {
  const failure = recallFailure(value);
  if (failure === undefined) return undefined;
  const { message: _, details: __, source: ___, ...verdict } = failure;
  return verdict;
}
