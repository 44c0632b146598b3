/** `signal`: an inbox has a signal. `due`: a session may be taken. */
export type Wakeup = "signal" | "due";

/** Hints to read the store now. They may be lost, repeated or late: listeners also poll, and only the store decides. */
export interface Wakeups {
  tell(wakeup: Wakeup): void;
  /** Returns a function that stops listening. */
  hear(wakeup: Wakeup, listener: () => void): () => void;
}

/** Reaches the listeners of this process. Other processes notice by polling. */
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
