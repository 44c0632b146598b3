import { DriverStopped } from "./control.ts";

/**
 * Something below the work failed: the journal, the artifacts, a lease, an open breaker. Told apart by where it comes
 * from, not by its class: work may throw any class it likes, and then it is the work that failed. Ends the driver and
 * uses up no attempt.
 */
export class MachineError extends Error {
  override readonly name = "MachineError";

  constructor(cause: unknown) {
    super("the machine below the work failed", { cause });
  }
}

export function fromTheMachine(cause: unknown): never {
  throw new MachineError(cause);
}

/** Remembers the first failure of the machine: work that caught it must pass neither for finished nor for failed. */
export class Machine {
  #broken: MachineError | undefined;

  throwIfBroken(): void {
    if (this.#broken !== undefined) throw this.#broken;
  }

  run<T>(work: Promise<T>): Promise<T> {
    return work.catch(this.failed);
  }

  /** What `run` does, for who listens to the work anyway. */
  readonly failed = (cause: unknown): never => {
    // Being told to stop is no failure of the machine.
    if (!(cause instanceof DriverStopped)) this.#broken ??= new MachineError(cause);
    throw cause;
  };
}
