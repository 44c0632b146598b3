import type { Clock } from "../domain/clock.ts";
import { CircuitOpen, MaestroError } from "../domain/errors.ts";
import type { PullRequest, Ticket, TicketReference } from "../domain/ticket.ts";
import {
  type DeliveryPolicy,
  deliveryPolicy,
  onDelivered,
  onPostponed,
  onRefused,
  onUnclear,
  type PendingDelivery,
  type PostingDelivery,
  type TicketDelivery,
} from "../domain/ticket-delivery.ts";
import type { DueTicket, TicketStore } from "../store/ticket-store.ts";
import { cut, oneLine } from "./plain-text.ts";
import { TicketRefused, type TicketSink, TicketUnclear } from "./ticket-sink.ts";

/** The ticket queue of the store. */
export type TicketQueue = Pick<TicketStore, "takeDue" | "settle" | "nextDueAt">;

/** Calls through the dependency's breaker. Rejects with CircuitOpen, whose `details.retryAt` is the time to retry. */
export type Guard = <T>(dependency: string, call: () => Promise<T>) => Promise<T>;

export interface TicketReport {
  readonly ticket: Ticket;
  readonly sink: string;
  readonly delivery: TicketDelivery;
  /** Why the delivery failed. */
  readonly error?: unknown;
}

export interface TicketOutboxOptions {
  readonly queue: TicketQueue;
  readonly sink: TicketSink;
  /** The sink for a ticket that asks for a pull request. Rejects if this process cannot create one. */
  readonly pullRequestSink: (wanted: PullRequest) => Promise<TicketSink>;
  /** Keeps tickets that the sink refuses for good, so that a person still finds them. */
  readonly shelf?: Pick<TicketSink, "post"> | undefined;
  readonly guard: Guard;
  readonly clock: Clock;
  readonly owner: string;
  readonly report: (report: TicketReport) => void;
  readonly policy?: DeliveryPolicy;
}

/** Delivers queued tickets to the tracker, one at a time. Errors of the tracker are never thrown to the caller. */
export class TicketOutbox {
  readonly #options: TicketOutboxOptions;

  constructor(options: TicketOutboxOptions) {
    this.#options = options;
  }

  /** Delivers due tickets and returns how many were delivered. */
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
    const { queue, clock, report, policy = deliveryPolicy } = this.#options;
    const untilDeadline = AbortSignal.timeout(Math.max(0, taken.deadline - clock.now()));
    const abort = signal === undefined ? untilDeadline : AbortSignal.any([signal, untilDeadline]);
    let next: TicketDelivery;
    let failure: { readonly error?: unknown } = {};
    try {
      // A branch has at most one pull request, even if a person created it.
      const mustSearch = searchFirst || ticket.pullRequest !== undefined;
      const found = mustSearch ? await this.#find(ticket, abort) : undefined;
      const reference = found ?? (await this.#post(ticket, taken, abort));
      next = onDelivered(reference, clock.now());
    } catch (error) {
      const lastError = cut(oneLine(`${reasonOf(error)} ${await this.#shelve(ticket, error, abort)}`), 500);
      next = { ...afterFailure(error, taken, clock.now(), policy), lastError };
      failure = { error };
    }
    // After a kill before this is stored, the ticket stays `posting`, and the next owner searches for it first.
    await queue.settle(ticket.id, next, taken);
    report({ ticket, sink: nameOf(ticket, this.#options.sink), delivery: next, ...failure });
    return next;
  }

  async #sinkOf({ pullRequest }: Ticket): Promise<TicketSink> {
    const { sink, pullRequestSink } = this.#options;
    return pullRequest === undefined ? sink : pullRequestSink(pullRequest);
  }

  async #find(ticket: Ticket, signal: AbortSignal): Promise<TicketReference | undefined> {
    const { guard } = this.#options;
    const sink = await this.#sinkOf(ticket);
    return guard(sink.name, () => sink.find(ticket.fingerprint, signal));
  }

  /** A ticket for a person must not wait for the tracker. Writing the same file again is harmless. */
  async #shelve(ticket: Ticket, error: unknown, signal: AbortSignal): Promise<string> {
    const { shelf } = this.#options;
    if (ticket.pullRequest !== undefined) return "";
    if (shelf === undefined || !TicketRefused.is(error) || error.fault !== "request") return "";
    const kept = await shelf.post(ticket, signal).catch(() => undefined);
    return kept === undefined ? "" : `Meanwhile it is here: ${kept.url}`;
  }

  async #post(ticket: Ticket, taken: PostingDelivery, signal: AbortSignal): Promise<TicketReference> {
    const { guard, clock } = this.#options;
    const sink = await this.#sinkOf(ticket);
    return guard(sink.name, async () => {
      // After its deadline a process must not post, because another may have taken over.
      if (clock.now() >= taken.deadline)
        throw new TicketRefused("The time to deliver the ticket was over.", { fault: "request" });
      return sink.post(ticket, signal);
    });
  }
}

const nameOf = ({ pullRequest }: Ticket, sink: TicketSink): string =>
  pullRequest === undefined ? sink.name : `github:${pullRequest.repository}`;

function afterFailure(
  error: unknown,
  taken: PostingDelivery,
  now: number,
  policy: DeliveryPolicy,
): PendingDelivery {
  if (CircuitOpen.is(error)) {
    const { retryAt } = error.details;
    return onPostponed(taken, now, typeof retryAt === "number" ? retryAt - now : 0);
  }
  if (TicketRefused.is(error)) {
    const { fault, retryAfterMs } = error;
    if (fault === "rate-limit" && retryAfterMs !== undefined) return onPostponed(taken, now, retryAfterMs);
    return onRefused(taken, now, retryAfterMs, policy);
  }
  // Any other error is a bug, and the delivery's state is unknown.
  return onUnclear(taken, now, TicketUnclear.is(error) ? error.retryAfterMs : 0, policy);
}

const reasonOf = (error: unknown): string =>
  MaestroError.is(error) ? [error.message, error.advice ?? ""].join(" ") : String(error);
