import type { DatabaseSync } from "node:sqlite";
import { parseJson } from "../../domain/json.ts";
import { parseTicket, type Ticket } from "../../domain/ticket.ts";
import {
  newDelivery,
  type PostingDelivery,
  parseDelivery,
  settle,
  type TicketDelivery,
  take,
} from "../../domain/ticket-delivery.ts";
import type { DueTicket } from "../ticket-store.ts";

/** The outbox, inside the writer's transaction. */
export class TicketTable {
  readonly #raise;
  readonly #due;
  readonly #find;
  readonly #save;

  constructor(database: DatabaseSync) {
    this.#raise = database.prepare(
      `INSERT INTO tickets (id, fingerprint, session, ticket, delivery, due_at, raised_at) VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT DO NOTHING`,
    );
    this.#due = database.prepare(
      "SELECT id, ticket, delivery FROM tickets WHERE due_at <= ? ORDER BY due_at LIMIT 10",
    );
    this.#find = database.prepare("SELECT delivery FROM tickets WHERE id = ?");
    this.#save = database.prepare("UPDATE tickets SET delivery = ?, due_at = ? WHERE id = ?");
  }

  /** Once per problem: the fingerprint is unique. */
  raise(ticket: Ticket, now: number): void {
    const { id, fingerprint, sessionId } = ticket;
    const delivery = newDelivery(now);
    this.#raise.run(id, fingerprint, sessionId, JSON.stringify(ticket), JSON.stringify(delivery), now, now);
  }

  takeDue(owner: string, now: number): DueTicket | undefined {
    for (const row of this.#due.all(now)) {
      const taken = take(parseDelivery(parseJson(String(row["delivery"]))), { now, owner });
      this.#store(String(row["id"]), taken.delivery, taken.kind === "not-due" ? taken.at : undefined);
      if (taken.kind === "not-due" || taken.kind === "delivered") continue;
      const ticket = parseTicket(parseJson(String(row["ticket"])));
      return { ticket, delivery: taken.delivery, searchFirst: taken.kind === "search-first" };
    }
    return undefined;
  }

  settle(id: string, next: TicketDelivery, taken: PostingDelivery): void {
    const row = this.#find.get(id);
    if (row === undefined) return;
    this.#store(id, settle(parseDelivery(parseJson(String(row["delivery"]))), taken, next));
  }

  #store(id: string, delivery: TicketDelivery, dueAt = dueAtOf(delivery)): void {
    this.#save.run(JSON.stringify(delivery), dueAt, id);
  }
}

/** When somebody should look again; a delivery under way is looked at when its time is over. */
function dueAtOf(delivery: TicketDelivery): number | null {
  switch (delivery.kind) {
    case "pending":
      return delivery.notBefore;
    case "posting":
      return delivery.deadline;
    case "delivered":
      return null;
  }
}
