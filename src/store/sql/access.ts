import type { Access } from "../access.ts";
import type { Submit } from "../command.ts";
import { SqlLogins } from "./logins.ts";
import type { SqlQueries } from "./queries.ts";
import { SqlAuditTrail, SqlUsers } from "./users.ts";

export const sqlAccess = (queries: SqlQueries, submit: Submit): Access => ({
  users: new SqlUsers(queries, submit),
  logins: new SqlLogins(queries, submit),
  trail: new SqlAuditTrail(queries, submit),
});
