import { deliveryPolicy } from "../../domain/ticket-delivery.ts";
import type { Dialect } from "../sql/queries.ts";

export const sqliteDialect: Dialect = {
  isListed: (column) => `${column} IN (SELECT value FROM json_each(?))`,
  pair: (one, other) => `json_array(${one}, ${other})`,
  distinct: (column) => `json_group_array(DISTINCT ${column}) FILTER (WHERE ${column} != '')`,
  isTicketDue: `due_at IS NOT NULL AND (due_at <= ?1 OR (json_valid(delivery) AND coalesce(
  json_extract(delivery, '$.notBefore') - json_extract(delivery, '$.waitMs'),
  json_extract(delivery, '$.deadline') - ${deliveryPolicy.deadlineMs}) > ?1))`,
  // Damaged tickets have no due time either and are not delivered.
  isTicketDelivered:
    "due_at IS NULL AND json_valid(delivery) AND json_extract(delivery, '$.kind') = 'delivered'",
};
