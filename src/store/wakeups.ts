/** `signal`: an inbox has a signal. `due`: a session may be taken. */
export type Wakeup = "signal" | "due";

/**
 * Hints that it is worth looking now. One may be lost, repeated or late: listeners poll as well, and what they find in
 * the store decides.
 */
export interface Wakeups {
  tell(wakeup: Wakeup): void;
  /** Returns how to stop listening. */
  hear(wakeup: Wakeup, listener: () => void): () => void;
}

/** Reaches the listeners of this process. Others find out when they poll. */
export class LocalWakeups implements Wakeups {
  readonly #listeners = { signal: new Set<() => void>(), due: new Set<() => void>() };

  tell(wakeup: Wakeup): void {
    for (const listener of this.#listeners[wakeup]) listener();
  }

  hear(wakeup: Wakeup, listener: () => void): () => void {
    this.#listeners[wakeup].add(listener);
    return () => void this.#listeners[wakeup].delete(listener);
  }
}
