import { newDelivery } from "../../domain/ticket-delivery.ts";
import { searchTextOf } from "../../journal/reduce.ts";
import type { Batch } from "./batch.ts";
import { insertRows, updateRows } from "./changes.ts";
import { encodeName } from "./names.ts";
import { saveLedger } from "./save-ledger.ts";
import type { SessionImage } from "./session-image.ts";
import type { Transaction } from "./transactions.ts";

/** Positions begin with the transaction's number, so that followers can tell which rows are complete. */
export const rowsOfOneTransaction = 1_000_000;

/** Sends what the commands changed: rows first, and totals of days, which all processes share, last. */
export function save(transaction: Transaction, batch: Batch): void {
  const created = batch.created.map(({ session }) => session);
  const known = [...batch.sessions.values()];
  const all = [...created, ...known];
  saveCreated(transaction, batch);
  saveOwners(transaction, batch);
  updateRows(
    transaction,
    "leases",
    [
      ["session", "bigint"],
      ["epoch", "int"],
      ["owner", "text"],
      ["seq", "int"],
      ["hash", "text"],
    ],
    known
      .filter(({ isLeaseChanged }) => isLeaseChanged)
      .map(({ number, epoch, owner, seq, hash }) => [number, epoch, owner, seq, hash]),
    { set: "epoch = x.epoch, owner = x.owner, seq = x.seq, hash = x.hash", where: "t.session = x.session" },
  );
  saveColumns(transaction, known);
  saveRows(transaction, all);
  saveCards(transaction, all);
  saveReferences(transaction, all);
  if (batch.received.length > 0)
    transaction.write("DELETE FROM inbox WHERE id = ANY($1::bigint[])", [batch.received]);
  saveBreakers(transaction, batch);
  saveTickets(transaction, batch.tickets);
  saveLedger(transaction, batch.ledger);
}

function saveCreated(transaction: Transaction, { created }: Batch): void {
  insertRows(
    transaction,
    "sessions",
    [
      ["number", "bigint"],
      ["id", "text"],
      ["key", "text"],
      ["team", "text"],
      ["team_fingerprint", "text"],
      ["identity", "text"],
      ["status", "text"],
      ["reason", "text"],
      ["wake_at", "bigint"],
      ["model", "text"],
      ["queue", "text"],
      ["priority", "int"],
      ["recoveries", "int"],
      ["created_at", "bigint"],
      ["updated_at", "bigint"],
      ["status_at", "bigint"],
    ],
    created.map(({ command: { session: given }, session: { number, columns } }) => [
      number,
      given.id,
      given.key,
      given.team,
      columns.teamFingerprint,
      given.identity,
      columns.status,
      columns.reason,
      columns.wakeAt,
      given.model,
      given.queue,
      given.priority,
      columns.recoveries,
      given.at,
      columns.updatedAt,
      columns.statusAt,
    ]),
  );
  insertRows(
    transaction,
    "leases",
    [
      ["session", "bigint"],
      ["epoch", "int"],
      ["seq", "int"],
      ["hash", "text"],
    ],
    created.map(({ session: { number, epoch, seq, hash } }) => [number, epoch, seq, hash]),
  );
  insertRows(
    transaction,
    "session_texts",
    [
      ["session", "bigint"],
      ["text", "text"],
    ],
    created.map(({ command: { session: given, row }, session }) => [
      session.number,
      [given.id, given.key ?? "", given.team, searchTextOf(row)]
        .join(" ")
        .toLowerCase()
        .replaceAll("\0", " "),
    ]),
  );
}

function saveOwners(transaction: Transaction, { claimants }: Batch): void {
  insertRows(
    transaction,
    "owners",
    [
      ["id", "text"],
      ["machine", "text"],
      ["boot", "text"],
      ["pid_namespace", "text"],
      ["pid", "int"],
      ["started", "text"],
      ["beats", "bigint"],
      ["beat_uptime_ms", "bigint"],
      ["beat_at", "bigint"],
    ],
    [...claimants.values()].map(
      ({ id, machine, boot, pidNamespace, pid, started, beatUptimeMs, beatAt }) =>
        [id, machine, boot, pidNamespace, pid, started, 1, beatUptimeMs, beatAt] as const,
    ),
    `ON CONFLICT (id) DO UPDATE SET beats = owners.beats + 1, beat_uptime_ms = excluded.beat_uptime_ms,
       beat_at = excluded.beat_at`,
  );
}

function saveColumns(transaction: Transaction, sessions: readonly SessionImage[]): void {
  updateRows(
    transaction,
    "sessions",
    [
      ["number", "bigint"],
      ["team_fingerprint", "text"],
      ["status", "text"],
      ["reason", "text"],
      ["wake_at", "bigint"],
      ["blocked", "text"],
      ["recoveries", "int"],
      ["updated_at", "bigint"],
      ["status_at", "bigint"],
    ],
    sessions
      .filter(({ areColumnsChanged }) => areColumnsChanged)
      .map(({ number, columns: c }) => [
        number,
        c.teamFingerprint,
        c.status,
        c.reason,
        c.wakeAt,
        c.blocked,
        c.recoveries,
        c.updatedAt,
        c.statusAt,
      ]),
    {
      set: `team_fingerprint = x.team_fingerprint, status = x.status, reason = x.reason, wake_at = x.wake_at,
        blocked = x.blocked, recoveries = x.recoveries, updated_at = x.updated_at, status_at = x.status_at`,
      where: "t.number = x.number",
    },
  );
}

function saveRows(transaction: Transaction, sessions: readonly SessionImage[]): void {
  let place = 0;
  const rows = sessions.flatMap(({ number, rows }) =>
    rows.map(({ row, seq, epoch, at, hash, previousHash }) => {
      place += 1;
      const { kind, attempt, occurrence, fingerprint, name, body } = row;
      return [
        number,
        seq,
        epoch,
        at,
        kind,
        attempt,
        occurrence,
        fingerprint,
        encodeName(name),
        hash,
        previousHash,
        place,
        body,
      ];
    }),
  );
  if (place >= rowsOfOneTransaction) throw new Error(`${place} rows are too many for one transaction`);
  if (rows.length === 0) return;
  transaction.write(
    `INSERT INTO journal (session, seq, epoch, at, kind, attempt, occurrence, fingerprint, name, hash, previous_hash,
       position, body)
     SELECT session, seq, epoch, at, kind, attempt, occurrence, fingerprint, name, hash, previous_hash,
       pg_current_xact_id()::text::bigint * ${rowsOfOneTransaction} + place, body
     FROM unnest($1::bigint[], $2::int[], $3::int[], $4::bigint[], $5::text[], $6::int[], $7::int[], $8::text[],
       $9::text[], $10::text[], $11::text[], $12::bigint[], $13::text[])
       AS x (session, seq, epoch, at, kind, attempt, occurrence, fingerprint, name, hash, previous_hash, place, body)`,
    Array.from({ length: 13 }, (_, at) => rows.map((row) => row[at])),
  );
}

function saveCards(transaction: Transaction, sessions: readonly SessionImage[]): void {
  insertRows(
    transaction,
    "session_cards",
    [
      ["session", "bigint"],
      ["held_until", "bigint"],
      ["card", "text"],
    ],
    sessions
      .filter(({ cardChange }) => cardChange === "changed")
      .map(({ number, heldUntil, card }) => [number, heldUntil, JSON.stringify(card)]),
    "ON CONFLICT (session) DO UPDATE SET held_until = excluded.held_until, card = excluded.card",
  );
  const dropped = sessions.filter(({ cardChange }) => cardChange === "dropped");
  if (dropped.length > 0)
    transaction.write("DELETE FROM session_cards WHERE session = ANY($1::bigint[])", [numbersOf(dropped)]);
  const waiting = sessions.filter(({ waits }) => waits !== undefined);
  if (waiting.length === 0) return;
  transaction.write("DELETE FROM session_waits WHERE session = ANY($1::bigint[])", [numbersOf(waiting)]);
  insertRows(
    transaction,
    "session_waits",
    [
      ["session", "bigint"],
      ["dependency", "text"],
    ],
    waiting.flatMap(({ number, waits = [] }) => waits.map((dependency) => [number, dependency])),
  );
}

const numbersOf = (sessions: readonly SessionImage[]): readonly number[] =>
  sessions.map(({ number }) => number);

function saveReferences(transaction: Transaction, sessions: readonly SessionImage[]): void {
  insertRows(
    transaction,
    "artifact_references",
    [
      ["session", "bigint"],
      ["sha256", "text"],
    ],
    sessions.flatMap(({ number, references }) => [...references].map((sha256) => [number, sha256])),
    "ON CONFLICT DO NOTHING",
  );
  for (const { number, referencesOf } of sessions)
    for (const other of referencesOf)
      transaction.write(
        `INSERT INTO artifact_references (session, sha256)
         SELECT $1::bigint, sha256 FROM artifact_references
         WHERE session = (SELECT number FROM sessions WHERE id = $2) ON CONFLICT DO NOTHING`,
        [number, other],
      );
}

/** Breakers are not locked while a batch is decided, so the save proves that no other process changed them. */
function saveBreakers(transaction: Transaction, { breakers }: Batch): void {
  for (const [name, { before, stored, record, changedAt }] of breakers) {
    if (record === before) continue;
    const values = [name, JSON.stringify(record), changedAt];
    // A breaker that another process has just made is a conflict of the key.
    if (stored === undefined)
      transaction.write("INSERT INTO breakers (name, record, updated_at) VALUES ($1, $2, $3)", values);
    else
      transaction.write(
        `WITH changed AS (UPDATE breakers SET record = $2, updated_at = $3
           WHERE name = $1 AND record = $4 RETURNING 1)
         SELECT prove((SELECT count(*) FROM changed) = 1)`,
        [...values, stored],
      );
  }
}

export function saveTickets(transaction: Transaction, tickets: Batch["tickets"]): void {
  insertRows(
    transaction,
    "tickets",
    [
      ["id", "text"],
      ["fingerprint", "text"],
      ["session", "text"],
      ["ticket", "text"],
      ["delivery", "text"],
      ["due_at", "bigint"],
      ["waits_since", "bigint"],
      ["raised_at", "bigint"],
    ],
    tickets.map(({ ticket, at }) => [
      ticket.id,
      ticket.fingerprint,
      ticket.sessionId,
      JSON.stringify(ticket),
      JSON.stringify(newDelivery(at)),
      at,
      at,
      at,
    ]),
    "ON CONFLICT DO NOTHING",
  );
}
