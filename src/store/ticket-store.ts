import type { Ticket } from "../domain/ticket.ts";
import type { PostingDelivery, TicketDelivery } from "../domain/ticket-delivery.ts";

/** A ticket with how far its delivery is. */
export interface TicketRecord {
  readonly ticket: Ticket;
  readonly delivery: TicketDelivery;
}

export interface DueTicket {
  readonly ticket: Ticket;
  readonly delivery: PostingDelivery;
  /** An earlier try may have created it, and its answer was lost. */
  readonly searchFirst: boolean;
}

/** The outbox on disk. Decisions are those of domain/ticket-delivery.ts, each applied in one transaction. */
export interface TicketStore {
  /** Once per problem and session: a ticket whose fingerprint is known already changes nothing. */
  raise(ticket: Ticket): Promise<void>;
  /** The ticket with this name, if it was raised before. */
  find(fingerprint: string): Promise<TicketRecord | undefined>;
  /** Newest first. */
  list(): Promise<readonly TicketRecord[]>;
  /** Ids of stored tickets that cannot be read, and so are in no list and are not delivered. */
  damaged(): Promise<readonly string[]>;
  /** Takes a due ticket for delivery; no other caller gets it until its deadline. */
  takeDue(now: number, owner: string): Promise<DueTicket | undefined>;
  /** `taken` proves that the delivery is still this caller's; a late success is kept all the same. */
  settle(id: string, next: TicketDelivery, taken: PostingDelivery): Promise<void>;
  nextDueAt(): Promise<number | undefined>;
  /** A page of those that are delivered, by id. */
  listDelivered(page: { readonly after: string; readonly limit: number }): Promise<readonly TicketRecord[]>;
  /** Deletes them for good. Tickets that are not delivered stay. */
  forget(ids: readonly string[]): Promise<void>;
}
