import type { Clock } from "../../../src/domain/clock.ts";
import type { Ticket } from "../../../src/domain/ticket.ts";
import {
  newDelivery,
  type PostingDelivery,
  settle,
  type TicketDelivery,
  take,
} from "../../../src/domain/ticket-delivery.ts";
import type { DueTicket } from "../../../src/store/ticket-store.ts";
import type { TicketQueue } from "../../../src/tickets/outbox.ts";

/** The outbox's port as the store implements it, without the disk. */
export class MemoryQueue implements TicketQueue {
  readonly rows = new Map<string, { readonly ticket: Ticket; delivery: TicketDelivery }>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(ticket: Ticket): Ticket {
    this.rows.set(ticket.id, { ticket, delivery: newDelivery(this.#clock.now()) });
    return ticket;
  }

  deliveryOf(ticket: Ticket): TicketDelivery {
    const row = this.rows.get(ticket.id);
    if (row === undefined) throw new Error("there is no such ticket");
    return row.delivery;
  }

  async takeDue(now: number, owner: string): Promise<DueTicket | undefined> {
    for (const row of this.rows.values()) {
      const decision = take(row.delivery, { now, owner });
      row.delivery = decision.delivery;
      if (decision.kind !== "post" && decision.kind !== "search-first") continue;
      return {
        ticket: row.ticket,
        delivery: decision.delivery,
        searchFirst: decision.kind === "search-first",
      };
    }
    return undefined;
  }

  async settle(id: string, next: TicketDelivery, taken: PostingDelivery): Promise<void> {
    const row = this.rows.get(id);
    if (row !== undefined) row.delivery = settle(row.delivery, taken, next);
  }

  async nextDueAt(): Promise<number | undefined> {
    const decisions = [...this.rows.values()].map(({ delivery }) =>
      take(delivery, { now: this.#clock.now(), owner: "-" }),
    );
    const times = decisions.flatMap((decision) => {
      if (decision.kind === "delivered") return [];
      return [decision.kind === "not-due" ? decision.at : this.#clock.now()];
    });
    return times.length === 0 ? undefined : Math.min(...times);
  }
}
