import type { SQLOutputValue } from "node:sqlite";
import { parseJson } from "../../domain/json.ts";
import { parseTicket } from "../../domain/ticket.ts";
import { parseDelivery } from "../../domain/ticket-delivery.ts";
import type { TicketRecord } from "../ticket-store.ts";

/** Undefined for a row that cannot be understood: one damaged ticket is no reason to lose the others. */
export function readRow({ ticket, delivery }: Record<string, SQLOutputValue>): TicketRecord | undefined {
  try {
    return {
      ticket: parseTicket(parseJson(String(ticket))),
      delivery: parseDelivery(parseJson(String(delivery))),
    };
  } catch {
    return undefined;
  }
}
