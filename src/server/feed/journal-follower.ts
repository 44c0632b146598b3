import type { Maestro } from "../../api/open.ts";
import { startPosition } from "../../domain/cursor.ts";

/** The interval of polls for rows of other processes. */
const lookEveryMs = 250;
/** Delays the read after a row of this process, because a busy session writes thousands a second. */
const soonMs = 20;
const rowsAtOnce = 2_000;

export type Changes = Awaited<ReturnType<Maestro["changes"]>>;

export interface FollowerParts {
  readonly maestro: Maestro;
  readonly onChanges: (changes: Changes) => Promise<void>;
  readonly report: (notice: string) => void;
}

/** Follows the journals of all sessions, whichever process writes them. Idle without watchers. */
export class JournalFollower {
  readonly #parts: FollowerParts;
  #position = startPosition;
  #timer: NodeJS.Timeout | undefined;
  #soon: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #isPoked = false;
  #begun: Promise<void> | undefined;

  constructor(parts: FollowerParts) {
    this.#parts = parts;
  }

  /** Resolves when no later row can be missed. */
  start(): Promise<void> {
    this.#begun ??= this.#parts.maestro.position().then((position) => {
      this.#position = position;
      this.#timer = setInterval(() => this.#look(), lookEveryMs).unref();
    });
    return this.#begun;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    clearTimeout(this.#soon);
    this.#timer = undefined;
    this.#soon = undefined;
    this.#begun = undefined;
    await this.#looking;
  }

  /** Call this when this process has written a row. */
  poke(): void {
    if (this.#timer === undefined || this.#soon !== undefined) return;
    this.#soon = setTimeout(() => {
      this.#soon = undefined;
      this.#look();
    }, soonMs).unref();
  }

  #look(): void {
    if (this.#looking !== undefined) {
      this.#isPoked = true;
      return;
    }
    this.#looking = this.#read()
      .catch((error: unknown) => this.#parts.report(`Events cannot be read: ${String(error)}`))
      .finally(() => {
        this.#looking = undefined;
        if (this.#isPoked) this.poke();
        this.#isPoked = false;
      });
  }

  async #read(): Promise<void> {
    const { maestro, onChanges } = this.#parts;
    for (;;) {
      const changes = await maestro.changes(this.#position, rowsAtOnce);
      const last = changes.at(-1);
      if (last === undefined) return;
      this.#position = last.position;
      await onChanges(changes);
      if (changes.length < rowsAtOnce) return;
    }
  }
}
