import type { Dialect } from "../sql/queries.ts";

export const postgresDialect: Dialect = {
  isListed: (column) => `${column} IN (SELECT json_array_elements_text(?::json))`,
  pair: (one, other) => `json_build_array(${one}, ${other})::text`,
  distinct: (column) => `(json_agg(DISTINCT ${column}) FILTER (WHERE ${column} <> ''))::text`,
  isTicketDue: "due_at IS NOT NULL AND (due_at <= ?1 OR waits_since > ?1)",
  isTicketDelivered: "due_at IS NULL AND is_delivered",
};
