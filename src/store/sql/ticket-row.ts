import { parseJson } from "../../domain/json.ts";
import { parseTicket } from "../../domain/ticket.ts";
import { parseDelivery, type TicketDelivery } from "../../domain/ticket-delivery.ts";
import type { TicketRecord } from "../ticket-store.ts";
import type { NamedRow } from "./queries.ts";

/** Undefined for an unreadable row, so that one damaged ticket does not affect the others. */
export function readRow({ ticket, delivery }: NamedRow): TicketRecord | undefined {
  try {
    return {
      ticket: parseTicket(parseJson(String(ticket))),
      delivery: parseDelivery(parseJson(String(delivery))),
    };
  } catch {
    return undefined;
  }
}

/** When it is due again. A delivery in progress is due at its deadline. */
export function dueAtOf(delivery: TicketDelivery): number | null {
  switch (delivery.kind) {
    case "pending":
      return delivery.notBefore;
    case "posting":
      return delivery.deadline;
    case "delivered":
      return null;
  }
}
