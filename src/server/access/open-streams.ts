import type { Person } from "./person.ts";

/** How often streams check for a sign-out or revocation by another process. */
const watchEveryMs = 1_000;

type IsStillIn = (person: Person) => Promise<boolean>;

/** Event streams that are open, by the token or login that they were opened with. They end with it. */
export class OpenStreams {
  readonly #isStillIn: IsStillIn;
  readonly #streams = new Map<string, { readonly person: Person; readonly close: Set<() => void> }>();
  #watch: NodeJS.Timeout | undefined;

  constructor(isStillIn: IsStillIn) {
    this.#isStillIn = isStillIn;
  }

  /** Calls `close` when the person is no longer let in. Returns a function that cancels this. */
  whileIn(person: Person, close: () => void): () => void {
    const { proof } = person;
    if (proof === undefined) return () => undefined;
    const open = this.#streams.get(proof) ?? { person, close: new Set() };
    this.#streams.set(proof, open);
    open.close.add(close);
    this.#watch ??= setInterval(() => void this.closeEnded(), watchEveryMs).unref();
    return () => {
      open.close.delete(close);
      if (open.close.size === 0) this.#streams.delete(proof);
    };
  }

  /** Checks every open stream now. */
  async closeEnded(): Promise<void> {
    for (const [proof, { person, close }] of this.#streams) {
      // If the store cannot be read, the next check decides.
      if (await this.#isStillIn(person).catch(() => true)) continue;
      for (const end of close) end();
      this.#streams.delete(proof);
    }
  }

  stop(): void {
    clearInterval(this.#watch);
  }
}
