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
