/** A service that a tool needs is not there. It is an outage: never an answer that the model gets. */
export class ServiceLost extends Error {
  /** As the system calls a broken connection: failures are classified by it. */
  readonly code = "ECONNRESET";

  constructor(message: string, cause: unknown) {
    super(message, { cause });
  }
}
