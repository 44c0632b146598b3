import { fingerprint } from "../../domain/canonical.ts";
import type { Json } from "../../domain/json.ts";

/** So many times the same is no progress. */
const limit = 3;

/** Notices a conversation that goes round in circles, also when other calls are in between. */
export class StuckDetector {
  readonly #seen = new Map<string, number>();
  #problem: string | undefined;

  /** Why the attempt should end. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** `tree`: the files at the time of the call; on other files the same call is another one. */
  succeeded(tool: string, args: Json, tree: string, output: string): void {
    const times = this.#count(["done", tool, args, tree, output]);
    if (times >= limit) this.#problem ??= `made the same ${tool} call ${times} times with the same result`;
  }

  /** The same error, or the same call that fails with another message each time. */
  failed(tool: string, args: Json, tree: string, message: string): void {
    const times = Math.max(
      this.#count(["error", tool, tree, message]),
      this.#count(["failed", tool, args, tree]),
    );
    if (times < limit) return;
    const error = `${tool}: ${message}`.slice(0, 500).toWellFormed();
    this.#problem ??= `met the same error ${times} times: ${error}`;
  }

  #count(what: Json): number {
    const key = fingerprint(what);
    const times = (this.#seen.get(key) ?? 0) + 1;
    this.#seen.set(key, times);
    return times;
  }
}
