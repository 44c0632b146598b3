/** Whoever asks under one name is served one after the other. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  async run<T>(name: string | undefined, work: () => Promise<T>): Promise<T> {
    if (name === undefined) return work();
    const before = this.#last.get(name) ?? Promise.resolve();
    // What became of the one before is that one's business.
    const mine = before.catch(() => undefined).then(work);
    this.#last.set(name, mine);
    try {
      return await mine;
    } finally {
      if (this.#last.get(name) === mine) this.#last.delete(name);
    }
  }
}
