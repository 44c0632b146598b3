import type { DatabaseSync } from "node:sqlite";
import type { Ticket } from "../../domain/ticket.ts";
import {
  newDelivery,
  type PostingDelivery,
  settle,
  type TicketDelivery,
  take,
} from "../../domain/ticket-delivery.ts";
import type { Reply, TicketCommand } from "../command.ts";
import { dueAtOf, readRow } from "../sql/ticket-row.ts";
import type { DueTicket } from "../ticket-store.ts";
import { sqliteDialect } from "./sqlite-dialect.ts";
import { prepareLazily } from "./statement.ts";

/** The outbox, inside the writer's transaction. */
export class TicketTable {
  readonly #sql;

  constructor(database: DatabaseSync) {
    this.#sql = prepareLazily(database, {
      raise: `INSERT INTO tickets (id, fingerprint, session, ticket, delivery, due_at, raised_at)
              VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
      due: `SELECT id, ticket, delivery FROM tickets WHERE ${sqliteDialect.isTicketDue} ORDER BY due_at LIMIT 10`,
      forget: `DELETE FROM tickets WHERE id = ? AND ${sqliteDialect.isTicketDelivered}`,
      find: "SELECT ticket, delivery FROM tickets WHERE id = ?",
      setAside: "UPDATE tickets SET due_at = NULL WHERE id = ?",
      save: "UPDATE tickets SET delivery = ?, due_at = ? WHERE id = ?",
    });
  }

  act(command: TicketCommand): Reply {
    switch (command.verb) {
      case "take-ticket":
        return { kind: "taken", due: this.#takeDue(command.owner, command.at) };
      case "raise-ticket":
        this.raise(command.ticket, command.at);
        break;
      case "settle-ticket":
        this.#settle(command.id, command.next, command.taken);
        break;
      case "forget-tickets":
        for (const id of command.ids) this.#sql.forget.run(id);
    }
    return { kind: "done" };
  }

  /** Raised once per problem and session, because the fingerprint is unique. */
  raise(ticket: Ticket, now: number): void {
    const { id, fingerprint, sessionId } = ticket;
    const delivery = newDelivery(now);
    this.#sql.raise.run(
      id,
      fingerprint,
      sessionId,
      JSON.stringify(ticket),
      JSON.stringify(delivery),
      now,
      now,
    );
  }

  #takeDue(owner: string, now: number): DueTicket | undefined {
    for (const row of this.#sql.due.all(now)) {
      const found = readRow(row);
      if (found === undefined) {
        // It cannot be delivered and must not block others, so it is kept but never due again.
        this.#sql.setAside.run(String(row["id"]));
        continue;
      }
      const taken = take(found.delivery, { now, owner });
      this.#store(String(row["id"]), taken.delivery, taken.kind === "not-due" ? taken.at : undefined);
      if (taken.kind === "not-due" || taken.kind === "delivered") continue;
      const { ticket } = found;
      return { ticket, delivery: taken.delivery, searchFirst: taken.kind === "search-first" };
    }
    return undefined;
  }

  #settle(id: string, next: TicketDelivery, taken: PostingDelivery): void {
    const row = this.#sql.find.get(id);
    const found = row && readRow(row);
    if (found !== undefined) this.#store(id, settle(found.delivery, taken, next));
  }

  #store(id: string, delivery: TicketDelivery, dueAt = dueAtOf(delivery)): void {
    this.#sql.save.run(JSON.stringify(delivery), dueAt, id);
  }
}
