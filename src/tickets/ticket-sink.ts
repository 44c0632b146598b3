import { MaestroError, type MaestroErrorOptions, type NextAction } from "../domain/errors.ts";
import type { Ticket, TicketReference } from "../domain/ticket.ts";

/** Where tickets go. Both calls fail with TicketRefused or TicketUnclear and nothing else, but for bugs. */
export interface TicketSink {
  /** Names the dependency for its breaker: "jira:PROJ". */
  readonly name: string;
  /** The ticket with this label, if the tracker knows one. */
  find(fingerprint: string, signal: AbortSignal): Promise<TicketReference | undefined>;
  post(ticket: Ticket, signal: AbortSignal): Promise<TicketReference>;
}

/** The kind of a tracker's failure: only an outage counts for its breaker, and a rate limit sets its wait. */
export type TicketFault = "outage" | "rate-limit" | "request";

export interface TicketErrorOptions extends MaestroErrorOptions {
  readonly fault: TicketFault;
  readonly status?: number | undefined;
  readonly retryAfterMs?: number | undefined;
}

abstract class TicketError extends MaestroError {
  readonly fault: TicketFault;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(message: string, { fault, status, retryAfterMs, ...options }: TicketErrorOptions) {
    const details = { fault, ...(status && { status }), ...(retryAfterMs && { retryAfterMs }) };
    super(message, { ...options, details: { ...options.details, ...details } });
    this.fault = fault;
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }

  get next(): NextAction {
    return "retry";
  }
  get exitCode(): number {
    return 3;
  }
  get httpStatus(): number {
    return 502;
  }
}

/** Nothing was created: it may be posted again as it is. */
export class TicketRefused extends TicketError {
  static {
    this.prototype.name = "TicketRefused";
  }
  get code(): "TICKET_REFUSED" {
    return "TICKET_REFUSED";
  }
}

/** It may have been created: search before it is posted again. */
export class TicketUnclear extends TicketError {
  static {
    this.prototype.name = "TicketUnclear";
  }
  get code(): "TICKET_UNCLEAR" {
    return "TICKET_UNCLEAR";
  }
}
