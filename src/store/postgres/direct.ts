import type { QueryResultRow } from "pg";
import type { TicketDelivery } from "../../domain/ticket-delivery.ts";
import { deliveryPolicy, settle, take } from "../../domain/ticket-delivery.ts";
import { finalStatuses } from "../../journal/standing.ts";
import type { Command, Reply } from "../command.ts";
import { isAsJudged, type JudgedLease } from "../decisions/lease.ts";
import { dueAtOf, readRow } from "../sql/ticket-row.ts";
import { savedColumns, savingsKey, sumColumns, usageKey } from "../sql/usage-columns.ts";
import type { BatchCommand } from "./batch.ts";
import { changeUsers } from "./change-users.ts";
import { adding } from "./changes.ts";
import { countOf, removed } from "./count-of.ts";
import { execute } from "./execute.ts";
import { load } from "./load.ts";
import { postgresDialect } from "./postgres-dialect.ts";
import { save, saveTickets } from "./save.ts";
import type { Transaction } from "./transactions.ts";

export type DirectCommand = Exclude<Command, BatchCommand | { verb: "restore" }>;

const orphanRows = 1_000;
const done: Reply = { kind: "done" };

/** Rare commands, each in a transaction of its own. */
export async function executeDirectly(transaction: Transaction, command: DirectCommand): Promise<Reply> {
  const write = (text: string, ...values: unknown[]) => transaction.write(text, values);
  switch (command.verb) {
    case "block":
      write(
        "UPDATE sessions SET blocked = $1 WHERE number = $2 AND status = $3",
        command.blocked,
        command.session,
        command.expectedStatus,
      );
      return done;
    case "signal":
      write(
        "INSERT INTO inbox (session, at, body) VALUES ($1, $2, $3)",
        command.session,
        command.at,
        command.body,
      );
      return done;
    case "reset-breaker": {
      const { dependency, at } = command;
      write(
        `UPDATE sessions SET wake_at = $1 WHERE wake_at > $1 AND status IN ('parked', 'running')
         AND number IN (SELECT session FROM session_waits WHERE dependency = $2)`,
        at,
        dependency,
      );
      return removed(await countOf(transaction, "DELETE FROM breakers WHERE name = $1", [dependency]));
    }
    case "raise-ticket":
      saveTickets(transaction, [command]);
      return done;
    case "take-ticket":
      return takeTicket(transaction, command);
    case "settle-ticket": {
      const { id, next, taken } = command;
      const [row] = await transaction.read("SELECT ticket, delivery FROM tickets WHERE id = $1 FOR UPDATE", [
        id,
      ]);
      const found = row && readRow(row);
      if (found !== undefined) store(transaction, id, settle(found.delivery, taken, next));
      return done;
    }
    case "forget-tickets":
      write(
        `DELETE FROM tickets WHERE id = ANY($1::text[]) AND ${postgresDialect.isTicketDelivered}`,
        command.ids,
      );
      return done;
    case "add-login": {
      const { name, role, user = null, createdAt, usedAt, expiresAt } = command.login;
      write("DELETE FROM logins WHERE expires_at <= $1", createdAt);
      const add = `INSERT INTO logins (hash, name, role, "user", created_at, used_at, expires_at)
        SELECT $1, $2, $3, $4::text, $5::bigint, $6::bigint, $7::bigint
        WHERE $4::text IS NULL OR EXISTS (SELECT 1 FROM users WHERE hash = $4::text)`;
      const values = [command.hash, name, role, user, createdAt, usedAt, expiresAt];
      return removed(await countOf(transaction, add, values));
    }
    case "renew-login":
      write(
        "UPDATE logins SET used_at = $1, expires_at = $2 WHERE hash = $3",
        command.usedAt,
        command.expiresAt,
        command.hash,
      );
      return done;
    case "end-login":
      return removed(await countOf(transaction, "DELETE FROM logins WHERE hash = $1", [command.hash]));
    case "add-user":
    case "redeem-link":
    case "revoke-user":
    case "note-act":
      return changeUsers(transaction, command);
    case "delete":
      return deleteSession(transaction, command);
    case "reclaim":
      return reclaim(transaction);
    // The transaction itself shows that this process can write.
    case "pass":
    // There are no folders to compare with.
    case "remember-comparison":
      return done;
  }
}

async function takeTicket(
  transaction: Transaction,
  { owner, at: now }: Extract<Command, { verb: "take-ticket" }>,
): Promise<Reply> {
  const due = postgresDialect.isTicketDue.replaceAll("?1", "$1");
  const rows = await transaction.read<QueryResultRow>(
    `SELECT id, ticket, delivery FROM tickets WHERE ${due} ORDER BY due_at LIMIT 10 FOR UPDATE SKIP LOCKED`,
    [now],
  );
  for (const row of rows) {
    const [id, found] = [String(row["id"]), readRow(row)];
    if (found === undefined) {
      // It cannot be delivered and must not block others, so it is kept but never due again.
      transaction.write("UPDATE tickets SET due_at = NULL WHERE id = $1", [id]);
      continue;
    }
    const taken = take(found.delivery, { now, owner });
    store(transaction, id, taken.delivery, taken.kind === "not-due" ? taken.at : undefined);
    if (taken.kind === "not-due" || taken.kind === "delivered") continue;
    const { ticket } = found;
    const searchFirst = taken.kind === "search-first";
    return { kind: "taken", due: { ticket, delivery: taken.delivery, searchFirst } };
  }
  return { kind: "taken", due: undefined };
}

function store(
  transaction: Transaction,
  id: string,
  delivery: TicketDelivery,
  dueAt: number | null = dueAtOf(delivery),
): void {
  transaction.write(
    "UPDATE tickets SET delivery = $1, due_at = $2, waits_since = $3, is_delivered = $4 WHERE id = $5",
    [JSON.stringify(delivery), dueAt, waitsSince(delivery), delivery.kind === "delivered", id],
  );
}

async function deleteSession(
  transaction: Transaction,
  { session, judged, onlyFinished, rows, at }: Extract<Command, { verb: "delete" }>,
): Promise<Reply> {
  const [found] = await transaction.read<
    Omit<JudgedLease, "beat"> & { status: (typeof finalStatuses)[number] }
  >(
    `SELECT l.epoch, l.owner, s.status FROM leases l JOIN sessions s ON s.number = l.session
     WHERE l.session = $1 FOR UPDATE OF l, s`,
    [session],
  );
  if (found !== undefined) {
    const { epoch, owner, status } = found;
    const [beating] = await transaction.read<{ beat: number }>(
      "SELECT beats AS beat FROM owners WHERE id = $1",
      [owner],
    );
    const isLive = onlyFinished && !finalStatuses.includes(status);
    if (isLive || !isAsJudged({ epoch, owner, beat: beating?.beat ?? null }, judged))
      return { kind: "refused", epoch };
    const estimate = { verb: "estimate", session, epoch, owner, at } as const;
    const batch = await load(transaction, [estimate]);
    execute(batch, estimate);
    save(transaction, batch);
    forget(transaction, session);
  }
  return { kind: "deleted", more: await deleteRows(transaction, session, rows) };
}

/** The session goes first: one with half its history must not be listed. Its sums stay without its name. */
function forget(transaction: Transaction, session: number): void {
  transaction.write("INSERT INTO deleted_sessions (number) VALUES ($1) ON CONFLICT DO NOTHING", [session]);
  transaction.write("DELETE FROM sessions WHERE number = $1", [session]);
  for (const [table, key, sums] of [
    ["usage", usageKey, sumColumns],
    ["savings", savingsKey, savedColumns],
  ] as const) {
    const columns = [...key, ...sums].join(", ");
    transaction.write(
      `INSERT INTO ${table} (${columns}) SELECT ${columns.replace("session", "0")} FROM ${table} WHERE session = $1
       ${adding(table, key, sums)}`,
      [session],
    );
    transaction.write(`DELETE FROM ${table} WHERE session = $1`, [session]);
  }
  transaction.write("DELETE FROM budget_totals WHERE session = $1", [session]);
  transaction.write("DELETE FROM budget_alerts WHERE session = $1", [session]);
}

/** In slices, so that a long history does not delay other sessions. True if there are more. */
async function deleteRows(transaction: Transaction, session: number, rows: number): Promise<boolean> {
  const slice = (table: string, key: string) =>
    countOf(
      transaction,
      `DELETE FROM ${table} WHERE session = $1 AND ${key} IN (SELECT ${key} FROM ${table} WHERE session = $1 LIMIT $2)`,
      [session, rows],
    );
  const hasMore = Math.max(await slice("journal", "seq"), await slice("ledger", "number")) === rows;
  if (!hasMore) transaction.write("DELETE FROM deleted_sessions WHERE number = $1", [session]);
  return hasMore;
}

/** Continues a deletion whose process was killed, and forgets processes that are long gone. */
async function reclaim(transaction: Transaction): Promise<Reply> {
  const [orphan] = await transaction.read<{ number: number }>("SELECT number FROM deleted_sessions LIMIT 1");
  if (orphan !== undefined) {
    await deleteRows(transaction, orphan.number, orphanRows);
    return { kind: "deleted", more: true };
  }
  transaction.write(
    `DELETE FROM owners o WHERE NOT EXISTS (SELECT 1 FROM leases l WHERE l.owner = o.id)
     AND NOT EXISTS (SELECT 1 FROM writers w WHERE w.id = o.id AND w.used_at > now() - interval '1 day')`,
  );
  transaction.write("DELETE FROM writers WHERE used_at < now() - interval '30 days'");
  return { kind: "deleted", more: false };
}

/** When the present wait of a delivery began: a later time than now shows that the clock was set back. */
function waitsSince(delivery: TicketDelivery): number | null {
  if (delivery.kind === "pending") return delivery.notBefore - delivery.waitMs;
  if (delivery.kind === "posting") return delivery.deadline - deliveryPolicy.deadlineMs;
  return null;
}
