import type { Reply, UserCommand } from "../command.ts";
import { foldedName, mostActs } from "../users.ts";
import { countOf, removed } from "./count-of.ts";
import type { Transaction } from "./transactions.ts";

export async function changeUsers(transaction: Transaction, command: UserCommand): Promise<Reply> {
  switch (command.verb) {
    case "add-user": {
      const { name, role, kind, createdAt, endsAt = null } = command.user;
      const insert = `INSERT INTO users (name, folded, role, kind, hash, created_at, ends_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING`;
      const values = [name, foldedName(name), role, kind, command.hash, createdAt, endsAt];
      return removed(await countOf(transaction, insert, values));
    }
    case "redeem-link": {
      const redeem = "UPDATE users SET is_used = true WHERE hash = $1 AND kind = 'link' AND NOT is_used";
      return removed(await countOf(transaction, redeem, [command.hash]));
    }
    case "revoke-user":
      transaction.write("DELETE FROM logins WHERE name = $1", [command.name]);
      return removed(await countOf(transaction, "DELETE FROM users WHERE name = $1", [command.name]));
    case "note-act": {
      const { at, person, role, operation, subject = null, status, request } = command.act;
      transaction.write(
        "INSERT INTO acts (at, person, role, operation, subject, status, request) VALUES ($1, $2, $3, $4, $5, $6, $7)",
        [at, person, role, operation, subject, status, request],
      );
      transaction.write("DELETE FROM acts WHERE number <= (SELECT max(number) FROM acts) - $1", [mostActs]);
      return { kind: "done" };
    }
  }
}
