/**
 * The JSON of every route the page reads or writes: the contract between `src/server/` and the dashboard.
 * Names promised elsewhere (`show --json`, `sessions --json`) are kept; what only the page needs is marked
 * "server adds". Times are ISO 8601 in UTC. Money is in dollars; null means that the price is not known.
 * Where a path has `:id`, the session's key is accepted too.
 */
export type * from "./types-actions.ts";
export type * from "./types-events.ts";
export type * from "./types-persona.ts";
export type * from "./types-server.ts";
export type * from "./types-session.ts";
export type * from "./types-values.ts";
