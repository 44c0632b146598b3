import type { Clock } from "../domain/clock.ts";
import { CircuitOpen } from "../domain/errors.ts";
import type { Ticket, TicketReference } from "../domain/ticket.ts";
import {
  type DeliveryPolicy,
  deliveryPolicy,
  onDelivered,
  onPostponed,
  onRefused,
  onUnclear,
  type PostingDelivery,
  type TicketDelivery,
} from "../domain/ticket-delivery.ts";
import { TicketRefused, type TicketSink, TicketUnclear } from "./ticket-sink.ts";

/** The outbox on disk. Decisions are those of domain/ticket-delivery.ts, each applied in one transaction. */
export interface TicketQueue {
  /** Takes the next due ticket: `take` decides, and what it decided is stored before anybody posts. */
  takeDue(now: number, owner: string): Promise<DueTicket | undefined>;
  /** Stores the outcome as `settle` decides: `taken` proves that the ticket is still this delivery's. */
  settle(id: string, next: TicketDelivery, taken: PostingDelivery): Promise<void>;
  nextDueAt(): Promise<number | undefined>;
}

export interface DueTicket {
  readonly ticket: Ticket;
  readonly delivery: PostingDelivery;
  readonly searchFirst: boolean;
}

/** The dependency's breaker. Rejects with CircuitOpen, whose `details.retryAt` says when to come back. */
export type Guard = <T>(dependency: string, call: () => Promise<T>) => Promise<T>;

export interface TicketReport {
  readonly ticket: Ticket;
  readonly sink: string;
  readonly delivery: TicketDelivery;
  /** Why it was not delivered. */
  readonly error?: unknown;
}

export interface TicketOutboxOptions {
  readonly queue: TicketQueue;
  readonly sink: TicketSink;
  readonly guard: Guard;
  readonly clock: Clock;
  readonly owner: string;
  readonly report: (report: TicketReport) => void;
  readonly policy?: DeliveryPolicy;
}

/** Brings tickets from the queue to the tracker, one at a time. What the tracker does never throws out of here. */
export class TicketOutbox {
  readonly #options: TicketOutboxOptions;

  constructor(options: TicketOutboxOptions) {
    this.#options = options;
  }

  /** Delivers what is due and gives how many were. */
  async deliverDue(signal?: AbortSignal): Promise<number> {
    const { queue, clock, owner } = this.#options;
    let delivered = 0;
    for (;;) {
      if (signal?.aborted) return delivered;
      const due = await queue.takeDue(clock.now(), owner);
      if (due === undefined) return delivered;
      if ((await this.#deliver(due, signal)).kind === "delivered") delivered += 1;
    }
  }

  async #deliver(
    { ticket, delivery: taken, searchFirst }: DueTicket,
    signal?: AbortSignal,
  ): Promise<TicketDelivery> {
    const { queue, sink, clock, report, policy = deliveryPolicy } = this.#options;
    const untilDeadline = AbortSignal.timeout(Math.max(0, taken.deadline - clock.now()));
    const abort = signal === undefined ? untilDeadline : AbortSignal.any([signal, untilDeadline]);
    let next: TicketDelivery;
    let failure: { readonly error?: unknown } = {};
    try {
      const found = searchFirst ? await this.#find(ticket, abort) : undefined;
      const reference = found ?? (await this.#post(ticket, taken, abort));
      next = onDelivered(reference, clock.now());
    } catch (error) {
      next = afterFailure(error, taken, clock.now(), policy);
      failure = { error };
    }
    // Killed before this is stored, the ticket stays `posting`; whoever takes it over searches first.
    await queue.settle(ticket.id, next, taken);
    report({ ticket, sink: sink.name, delivery: next, ...failure });
    return next;
  }

  #find(ticket: Ticket, signal: AbortSignal): Promise<TicketReference | undefined> {
    const { sink, guard } = this.#options;
    return guard(sink.name, () => sink.find(ticket.fingerprint, signal));
  }

  #post(ticket: Ticket, taken: PostingDelivery, signal: AbortSignal): Promise<TicketReference> {
    const { sink, guard, clock } = this.#options;
    return guard(sink.name, async () => {
      // A process that slept through its deadline may not post any more: somebody else may be at it.
      if (clock.now() >= taken.deadline)
        throw new TicketRefused("The time to deliver the ticket was over.", { fault: "request" });
      return sink.post(ticket, signal);
    });
  }
}

function afterFailure(
  error: unknown,
  taken: PostingDelivery,
  now: number,
  policy: DeliveryPolicy,
): TicketDelivery {
  if (CircuitOpen.is(error)) {
    const { retryAt } = error.details;
    return onPostponed(taken, now, typeof retryAt === "number" ? retryAt - now : 0);
  }
  if (TicketRefused.is(error)) {
    const { fault, retryAfterMs } = error;
    if (fault === "rate-limit" && retryAfterMs !== undefined) return onPostponed(taken, now, retryAfterMs);
    return onRefused(taken, now, retryAfterMs, policy);
  }
  // What is not one of ours is a bug, in the middle of who knows what.
  return onUnclear(taken, now, TicketUnclear.is(error) ? error.retryAfterMs : 0, policy);
}
