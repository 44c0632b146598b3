import { fingerprint } from "../domain/canonical.ts";
import type { Json } from "../domain/json.ts";

/** So many times the same is no progress. */
const limit = 3;

/** Notices a conversation that goes round in circles. */
export class StuckDetector {
  readonly #calls = new Map<string, number>();
  #lastError = "";
  #errors = 0;
  #problem: string | undefined;

  /** Why the attempt should end. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** `tree`: the files at the time of the call; on other files the same call is another one. */
  succeeded(tool: string, args: Json, tree: string, output: string): void {
    this.#errors = 0;
    this.#lastError = "";
    const key = fingerprint([tool, args, tree, output]);
    const times = (this.#calls.get(key) ?? 0) + 1;
    this.#calls.set(key, times);
    if (times >= limit) this.#problem ??= `made the same ${tool} call ${times} times with the same result`;
  }

  failed(tool: string, message: string): void {
    const error = `${tool}: ${message}`;
    this.#errors = error === this.#lastError ? this.#errors + 1 : 1;
    this.#lastError = error;
    if (this.#errors >= limit) {
      this.#problem ??= `met the same error ${this.#errors} times: ${error.slice(0, 500).toWellFormed()}`;
    }
  }
}
