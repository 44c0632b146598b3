import type { DatabaseSync } from "node:sqlite";
import type { Clock } from "../../domain/clock.ts";
import type { Ticket } from "../../domain/ticket.ts";
import type { PostingDelivery, TicketDelivery } from "../../domain/ticket-delivery.ts";
import type { DueTicket, TicketRecord, TicketStore } from "../ticket-store.ts";
import type { Submit } from "./command.ts";
import { readRow } from "./ticket-row.ts";

const listLimit = 1_000;

export class SqliteTickets implements TicketStore {
  readonly #submit: Submit;
  readonly #clock: Clock;
  readonly #find;
  readonly #list;
  readonly #next;

  constructor(database: DatabaseSync, submit: Submit, clock: Clock) {
    this.#submit = submit;
    this.#clock = clock;
    this.#find = database.prepare("SELECT ticket, delivery FROM tickets WHERE fingerprint = ?");
    this.#list = database.prepare(
      `SELECT id, ticket, delivery FROM tickets ORDER BY id DESC LIMIT ${listLimit}`,
    );
    this.#next = database.prepare("SELECT min(due_at) AS due FROM tickets WHERE due_at IS NOT NULL");
  }

  async raise(ticket: Ticket): Promise<void> {
    await this.#submit({ verb: "raise-ticket", ticket, at: this.#clock.now() });
  }

  async find(fingerprint: string): Promise<TicketRecord | undefined> {
    const row = this.#find.get(fingerprint);
    return row && readRow(row);
  }

  async list(): Promise<readonly TicketRecord[]> {
    return this.#list.all().flatMap((row) => readRow(row) ?? []);
  }

  async damaged(): Promise<readonly string[]> {
    return this.#list.all().flatMap((row) => (readRow(row) === undefined ? [String(row["id"])] : []));
  }

  async takeDue(now: number, owner: string): Promise<DueTicket | undefined> {
    // Most looks find nothing and should not cost a commit.
    const next = await this.nextDueAt();
    if (next === undefined || next > now) return undefined;
    const reply = await this.#submit({ verb: "take-ticket", owner, at: now });
    return reply.kind === "taken" ? reply.due : undefined;
  }

  async settle(id: string, next: TicketDelivery, taken: PostingDelivery): Promise<void> {
    await this.#submit({ verb: "settle-ticket", id, next, taken });
  }

  async nextDueAt(): Promise<number | undefined> {
    const due = this.#next.get()?.["due"];
    return typeof due === "number" ? due : undefined;
  }
}
