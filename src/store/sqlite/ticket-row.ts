import type { SQLOutputValue } from "node:sqlite";
import { parseJson } from "../../domain/json.ts";
import { parseTicket } from "../../domain/ticket.ts";
import { deliveryPolicy, parseDelivery } from "../../domain/ticket-delivery.ts";
import type { TicketRecord } from "../ticket-store.ts";

/** Damaged tickets have no due time either and are not delivered. */
export const isDelivered =
  "due_at IS NULL AND json_valid(delivery) AND json_extract(delivery, '$.kind') = 'delivered'";

/**
 * Due at time `?1`. A ticket that began to wait in the future is due too: the clock was set back since, and its
 * taker computes the remaining wait.
 */
export const isDueAt = `due_at IS NOT NULL AND (due_at <= ?1 OR (json_valid(delivery) AND coalesce(
  json_extract(delivery, '$.notBefore') - json_extract(delivery, '$.waitMs'),
  json_extract(delivery, '$.deadline') - ${deliveryPolicy.deadlineMs}) > ?1))`;

/** Undefined for an unreadable row, so that one damaged ticket does not affect the others. */
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
