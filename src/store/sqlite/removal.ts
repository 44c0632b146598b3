import { StateRemoved } from "../../domain/errors.ts";
import type { DatabaseFiles } from "./database-files.ts";

/** Frequent enough that a driver in a long call stops within a beat, and cheap enough not to matter. */
const lookEveryMs = 1_000;

/** Reports once that the database files are gone, found by periodic checks or by a failed write. */
export class Removal {
  readonly #listeners: ((error: StateRemoved) => void)[] = [];
  readonly #timer: NodeJS.Timeout | undefined;
  #error: StateRemoved | undefined;

  /** Undefined for a database without files. */
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
