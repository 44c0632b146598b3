import { StateRemoved } from "../../domain/errors.ts";
import type { DatabaseFiles } from "./database-files.ts";

/** Often enough that a driver in a long call stops within a beat, and far less than a process notices. */
const lookEveryMs = 1_000;

/** Notices once that the files of the database are gone, by looking from time to time or from a failed write. */
export class Removal {
  readonly #listeners: ((error: StateRemoved) => void)[] = [];
  readonly #timer: NodeJS.Timeout | undefined;
  #error: StateRemoved | undefined;

  /** Undefined: they cannot be removed, because there are none. */
  constructor(files: DatabaseFiles | undefined, everyMs: number) {
    if (files === undefined) return;
    this.#timer = setInterval(() => this.notice(files.findRemoval()), Math.min(everyMs, lookEveryMs)).unref();
  }

  hear(listener: (error: StateRemoved) => void): void {
    if (this.#error === undefined) this.#listeners.push(listener);
    else listener(this.#error);
  }

  notice(error: unknown): void {
    if (this.#error !== undefined || !StateRemoved.is(error)) return;
    this.#error = error;
    this.end();
    for (const listener of this.#listeners.splice(0)) listener(error);
  }

  end(): void {
    clearInterval(this.#timer);
  }
}
