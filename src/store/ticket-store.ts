import type { Ticket } from "../domain/ticket.ts";
import type { PostingDelivery, TicketDelivery } from "../domain/ticket-delivery.ts";

/** A ticket and the state of its delivery. */
export interface TicketRecord {
  readonly ticket: Ticket;
  readonly delivery: TicketDelivery;
}

export interface DueTicket {
  readonly ticket: Ticket;
  readonly delivery: PostingDelivery;
  /** An earlier attempt may have created it, because its answer was lost. */
  readonly searchFirst: boolean;
}

/** The outbox on disk. domain/ticket-delivery.ts decides, and each decision is one transaction. */
export interface TicketStore {
  /** Raised once per problem and session. A known fingerprint changes nothing. */
  raise(ticket: Ticket): Promise<void>;
  /** The ticket with this fingerprint, if it was raised before. */
  find(fingerprint: string): Promise<TicketRecord | undefined>;
  /** Newest first. */
  list(): Promise<readonly TicketRecord[]>;
  /** Ids of unreadable tickets, which appear in no list and are not delivered. */
  damaged(): Promise<readonly string[]>;
  /** Takes a due ticket for delivery. No other caller gets it until its deadline. */
  takeDue(now: number, owner: string): Promise<DueTicket | undefined>;
  /** `taken` proves that the delivery still belongs to this caller. A late success is stored anyway. */
  settle(id: string, next: TicketDelivery, taken: PostingDelivery): Promise<void>;
  nextDueAt(): Promise<number | undefined>;
  /** A page of delivered tickets, by id. */
  listDelivered(page: { readonly after: string; readonly limit: number }): Promise<readonly TicketRecord[]>;
  /** Deletes delivered tickets. Others stay. */
  forget(ids: readonly string[]): Promise<void>;
}
