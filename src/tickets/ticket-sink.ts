import { MaestroError, type MaestroErrorOptions, type NextAction } from "../domain/errors.ts";
import type { Ticket, TicketReference } from "../domain/ticket.ts";

/** Delivers tickets. Unless there is a bug, both calls fail only with TicketRefused or TicketUnclear. */
export interface TicketSink {
  /** The breaker's name for this dependency: "jira:PROJ". */
  readonly name: string;
  /** The ticket with this label, if the tracker has one. */
  find(fingerprint: string, signal: AbortSignal): Promise<TicketReference | undefined>;
  post(ticket: Ticket, signal: AbortSignal): Promise<TicketReference>;
}

/** The kind of a tracker's failure. Only an outage counts for its breaker, and a rate limit sets its wait. */
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

/** Nothing was created, so it may be posted again unchanged. */
export class TicketRefused extends TicketError {
  static {
    this.prototype.name = "TicketRefused";
  }
  get code(): "TICKET_REFUSED" {
    return "TICKET_REFUSED";
  }
}

/** It may have been created, so search before posting again. */
export class TicketUnclear extends TicketError {
  static {
    this.prototype.name = "TicketUnclear";
  }
  get code(): "TICKET_UNCLEAR" {
    return "TICKET_UNCLEAR";
  }
}
