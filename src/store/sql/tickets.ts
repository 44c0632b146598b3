import type { Clock } from "../../domain/clock.ts";
import type { Ticket } from "../../domain/ticket.ts";
import type { PostingDelivery, TicketDelivery } from "../../domain/ticket-delivery.ts";
import type { Submit } from "../command.ts";
import type { DueTicket, TicketRecord, TicketStore } from "../ticket-store.ts";
import type { NamedRow, SqlQueries } from "./queries.ts";
import { readRow } from "./ticket-row.ts";

const listLimit = 1_000;

export class SqlTickets implements TicketStore {
  readonly #submit: Submit;
  readonly #clock: Clock;
  readonly #queries: SqlQueries;

  constructor(queries: SqlQueries, submit: Submit, clock: Clock) {
    this.#submit = submit;
    this.#clock = clock;
    this.#queries = queries;
  }

  async raise(ticket: Ticket): Promise<void> {
    await this.#submit({ verb: "raise-ticket", ticket, at: this.#clock.now() });
  }

  async find(fingerprint: string): Promise<TicketRecord | undefined> {
    const row = await this.#queries.getNamed(
      "SELECT ticket, delivery FROM tickets WHERE fingerprint = ?",
      fingerprint,
    );
    return row && readRow(row);
  }

  async list(): Promise<readonly TicketRecord[]> {
    return (await this.#newest()).flatMap((row) => readRow(row) ?? []);
  }

  async damaged(): Promise<readonly string[]> {
    return (await this.#newest()).flatMap((row) => (readRow(row) === undefined ? [String(row["id"])] : []));
  }

  async takeDue(now: number, owner: string): Promise<DueTicket | undefined> {
    // Most checks find nothing and should not cost a commit.
    const { isTicketDue } = this.#queries.dialect;
    const found = await this.#queries.get(`SELECT 1 FROM tickets WHERE ${isTicketDue} LIMIT 1`, now);
    if (found === undefined) return undefined;
    const reply = await this.#submit({ verb: "take-ticket", owner, at: now });
    return reply.kind === "taken" ? reply.due : undefined;
  }

  async settle(id: string, next: TicketDelivery, taken: PostingDelivery): Promise<void> {
    await this.#submit({ verb: "settle-ticket", id, next, taken });
  }

  async nextDueAt(): Promise<number | undefined> {
    const found = await this.#queries.get("SELECT min(due_at) FROM tickets WHERE due_at IS NOT NULL");
    const due = found?.[0];
    return typeof due === "number" ? due : undefined;
  }

  async listDelivered({ after, limit }: { readonly after: string; readonly limit: number }) {
    const rows = await this.#queries.allNamed(
      `SELECT ticket, delivery FROM tickets
       WHERE id > ? AND ${this.#queries.dialect.isTicketDelivered} ORDER BY id LIMIT ?`,
      after,
      limit,
    );
    return rows.flatMap((row) => readRow(row) ?? []);
  }

  async forget(ids: readonly string[]): Promise<void> {
    await this.#submit({ verb: "forget-tickets", ids });
  }

  async #newest(): Promise<NamedRow[]> {
    return await this.#queries.allNamed(
      `SELECT id, ticket, delivery FROM tickets ORDER BY id DESC LIMIT ${listLimit}`,
    );
  }
}
