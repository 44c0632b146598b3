import type { DatabaseSync } from "node:sqlite";
import type { LoginCommand, Reply } from "../command.ts";
import { prepareLazily } from "./statement.ts";

export class LoginTable {
  readonly #sql;

  constructor(database: DatabaseSync) {
    this.#sql = prepareLazily(database, {
      add: "INSERT INTO logins (hash, name, role, created_at, used_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)",
      forgetExpired: "DELETE FROM logins WHERE expires_at <= ?",
      renew: "UPDATE logins SET used_at = ?, expires_at = ? WHERE hash = ?",
      end: "DELETE FROM logins WHERE hash = ?",
    });
  }

  act(command: LoginCommand): Reply {
    const sql = this.#sql;
    switch (command.verb) {
      case "add-login": {
        const { name, role, createdAt, usedAt, expiresAt } = command.login;
        sql.forgetExpired.run(createdAt);
        sql.add.run(command.hash, name, role, createdAt, usedAt, expiresAt);
        return { kind: "done" };
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
