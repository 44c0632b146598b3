import { type Exchange, LoopbackServer } from "./loopback-server.ts";

export interface ServiceCall {
  /** The caller, by its own header. */
  readonly caller: string;
  /** By the service's clock. */
  readonly at: number;
}

/** A service that personas call; it fails until a test makes it healthy. */
export class LoopbackService {
  status = 503;
  headers: Readonly<Record<string, string>> = {};
  readonly calls: ServiceCall[] = [];
  /** A call waits here before it is answered. */
  hold: (call: ServiceCall) => Promise<void> = async () => {};
  readonly server = new LoopbackServer(() => ({
    status: this.status,
    headers: this.headers,
    body: { status: this.status },
  }));
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
    this.server.witness.arrived = ({ headers }: Exchange) => {
      const call = { caller: String(headers["x-caller"]), at: this.#now() };
      this.calls.push(call);
      return this.hold(call);
    };
  }
}
