import type { Logins } from "./logins.ts";
import type { AuditTrail, Users } from "./users.ts";

/** People who may use the server, the browsers they are signed in with, and what they did. */
export interface Access {
  readonly users: Users;
  readonly logins: Logins;
  readonly trail: AuditTrail;
}
