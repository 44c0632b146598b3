import { Reading, type ReadingParts } from "./reading.ts";

/** A state directory that is open for looking alone. */
export class Looking extends Reading {
  readonly #parts: ReadingParts;

  constructor(parts: ReadingParts) {
    super(parts);
    this.#parts = parts;
    void parts.lost.announce();
  }

  async close(): Promise<void> {
    await this.#parts.lost.list().catch(() => undefined);
    await this.#parts.store.close();
  }
}
