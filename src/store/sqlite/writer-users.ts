import type { DatabaseSync } from "node:sqlite";
import type { Reply, UserCommand } from "../command.ts";
import { foldedName, mostActs } from "../users.ts";
import { prepareLazily } from "./statement.ts";

export class UserTable {
  readonly #sql;

  constructor(database: DatabaseSync) {
    this.#sql = prepareLazily(database, {
      add: `INSERT INTO users (name, folded, role, kind, hash, created_at, ends_at) VALUES (?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT DO NOTHING`,
      redeem: "UPDATE users SET is_used = 1 WHERE hash = ? AND kind = 'link' AND is_used = 0",
      revoke: "DELETE FROM users WHERE name = ?",
      signOut: "DELETE FROM logins WHERE name = ?",
      note: `INSERT INTO acts (at, person, role, operation, subject, status, request)
        VALUES (?, ?, ?, ?, ?, ?, ?)`,
      forgetOldest: "DELETE FROM acts WHERE number <= ?",
    });
  }

  act(command: UserCommand): Reply {
    const sql = this.#sql;
    switch (command.verb) {
      case "add-user": {
        const { name, role, kind, createdAt, endsAt = null } = command.user;
        const { changes } = sql.add.run(name, foldedName(name), role, kind, command.hash, createdAt, endsAt);
        return { kind: "removed", found: changes > 0 };
      }
      case "redeem-link":
        return { kind: "removed", found: sql.redeem.run(command.hash).changes > 0 };
      case "revoke-user": {
        sql.signOut.run(command.name);
        return { kind: "removed", found: sql.revoke.run(command.name).changes > 0 };
      }
      case "note-act": {
        const { at, person, role, operation, subject = null, status, request } = command.act;
        const noted = sql.note.run(at, person, role, operation, subject, status, request);
        sql.forgetOldest.run(Number(noted.lastInsertRowid) - mostActs);
        return { kind: "done" };
      }
    }
  }
}
