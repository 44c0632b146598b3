import type { DatabaseSync } from "node:sqlite";
import type { LoginCommand, Reply } from "../command.ts";
import { prepareLazily } from "./statement.ts";

export class LoginTable {
  readonly #sql;

  constructor(database: DatabaseSync) {
    this.#sql = prepareLazily(database, {
      add: `INSERT INTO logins (hash, name, role, user, created_at, used_at, expires_at)
        SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 WHERE ?4 IS NULL OR EXISTS (SELECT 1 FROM users WHERE hash = ?4)`,
      forgetExpired: "DELETE FROM logins WHERE expires_at <= ?",
      renew: "UPDATE logins SET used_at = ?, expires_at = ? WHERE hash = ?",
      end: "DELETE FROM logins WHERE hash = ?",
    });
  }

  act(command: LoginCommand): Reply {
    const sql = this.#sql;
    switch (command.verb) {
      case "add-login": {
        const { name, role, user = null, createdAt, usedAt, expiresAt } = command.login;
        sql.forgetExpired.run(createdAt);
        const { changes } = sql.add.run(command.hash, name, role, user, createdAt, usedAt, expiresAt);
        return { kind: "removed", found: changes > 0 };
      }
      case "renew-login": {
        sql.renew.run(command.usedAt, command.expiresAt, command.hash);
        return { kind: "done" };
      }
      case "end-login":
        return { kind: "removed", found: sql.end.run(command.hash).changes > 0 };
    }
  }
}
